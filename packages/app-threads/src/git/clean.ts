import { BridgeError } from '@codex-thread-bridge/core/contract'
import type { Git } from '@codex-thread-bridge/core/git'
import type { CarryPaths } from './carry.ts'
import { changesOf, isClean, pathsOf, type Changes } from './changes.ts'
import { removeFile, stateOf } from './file-state.ts'

const NO_FILE = 'none'
const NUL = Buffer.from('\0')
const isAbsent = (mode: string): boolean => /^0+$/.test(mode)

/** The index as the commit has it: only entries that differ are written. */
const resetIndex = async (git: Git, root: string, { staged, announced }: Changes): Promise<void> => {
  const entries = [
    ...staged.map(({ headMode, headId, path }) => ({ mode: headMode, id: headId, path })),
    ...announced.map(({ path, noId }) => ({ mode: '0', id: noId, path })),
  ]
  if (entries.length === 0) return
  const input = Buffer.concat(
    entries.flatMap(({ mode, id, path }) => [
      Buffer.from(`${isAbsent(mode) ? '0' : mode} ${id}\t`),
      path,
      NUL,
    ]),
  )
  await git.run(['update-index', '-z', '--index-info'], { cwd: root, input, changes: true })
}

/** The files that the commit has at these paths, written again. */
const restore = async (git: Git, root: string, { staged, unstaged, announced }: Changes): Promise<void> => {
  const absent = [
    ...staged.filter(({ headMode }) => isAbsent(headMode)).map(({ path }) => path),
    ...announced.map(({ path }) => path),
  ]
  const notInCommit = new Set(absent.map((path) => path.toString('latin1')))
  const paths = [...staged.map(({ path }) => path), ...unstaged].filter(
    (path) => !notInCommit.has(path.toString('latin1')),
  )
  if (paths.length === 0) return
  const input = Buffer.concat(paths.flatMap((path) => [path, NUL]))
  await git.run(['checkout-index', '-q', '-f', '-z', '--stdin'], { cwd: root, input, changes: true })
}

/**
 * Takes the uncommitted changes out of a checkout, each file only if another checkout has it just so: afterwards it is
 * what its commit says. Can be repeated after it was cut off.
 * @throws BridgeError uncarried_changes when a file differs: it is kept, and those behind it
 */
export const cleanChanges = async (git: Git, { from, to }: CarryPaths): Promise<void> => {
  const refresh = () =>
    git.run(['update-index', '-q', '--refresh'], { cwd: from, exitCodes: [0, 1], changes: true })
  // What an earlier run has restored only looks changed.
  await refresh()
  const changes = await changesOf(git, from)
  for (const path of pathsOf(changes)) {
    const state = await stateOf(from, path)
    if (state !== NO_FILE && state !== (await stateOf(to, path)))
      throw new BridgeError(
        'uncarried_changes',
        `${path.toString('utf8')} in ${from} is not what it is in ${to}: it is kept.`,
        { details: { path: path.toString('utf8') } },
      )
    await removeFile(from, path)
  }
  await resetIndex(git, from, changes)
  await restore(git, from, changes)
  await refresh()
  if (!isClean(await changesOf(git, from)))
    throw new BridgeError('uncarried_changes', `${from} is not clean after its changes were taken out.`)
}
