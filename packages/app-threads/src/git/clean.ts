import { BridgeError } from '@codex-thread-bridge/core/contract'
import type { Git } from '@codex-thread-bridge/core/git'
import type { CarryPaths } from './carry.ts'
import { changesOf, isClean, key, pathsOf, type Changes, type IndexEntry } from './changes.ts'
import { removeFile, stateOf } from './file-state.ts'

const NO_FILE = 'none'
const NUL = Buffer.from('\0')
const isAbsent = (mode: string): boolean => /^0+$/.test(mode)

/** What the commit has at every path that is tracked. */
const inCommit = ({ staged, unstaged, announced, vanished }: Changes): readonly IndexEntry[] => {
  const nothing = new Set([...announced, ...vanished].map(key))
  // What is staged as well stands last: there the index is not what the commit is.
  const entries = [
    ...unstaged.map((entry) => (nothing.has(key(entry.path)) ? { ...entry, mode: '0' } : entry)),
    ...staged.map(({ headMode, headId, path }) => ({ mode: headMode, id: headId, path })),
  ]
  return [...new Map(entries.map((entry) => [key(entry.path), entry])).values()]
}

/**
 * The index as the commit has it, only at these paths. Git forgets with it what it knew of the files: those that were
 * restored before a run was cut off, with another size than once (filters), are found to be the same.
 */
const resetIndex = async (git: Git, root: string, entries: readonly IndexEntry[]): Promise<void> => {
  if (entries.length === 0) return
  const input = Buffer.concat(
    entries.flatMap(({ mode, id, path }) => [
      Buffer.from(isAbsent(mode) ? `0 ${'0'.repeat(id.length)}\t` : `${mode} ${id}\t`),
      path,
      NUL,
    ]),
  )
  await git.run(['update-index', '-z', '--index-info'], { cwd: root, input, changes: true })
}

/** The files that the commit has at these paths, written again; the index takes note of how they are now. */
const restore = async (git: Git, root: string, entries: readonly IndexEntry[]): Promise<void> => {
  const paths = entries.filter(({ mode }) => !isAbsent(mode)).map(({ path }) => path)
  if (paths.length === 0) return
  const input = Buffer.concat(paths.flatMap((path) => [path, NUL]))
  await git.run(['checkout-index', '-q', '-f', '-u', '-z', '--stdin'], { cwd: root, input, changes: true })
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
  const entries = inCommit(changes)
  await resetIndex(git, from, entries)
  await restore(git, from, entries)
  await refresh()
  if (!isClean(await changesOf(git, from)))
    throw new BridgeError('uncarried_changes', `${from} is not clean after its changes were taken out.`)
}
