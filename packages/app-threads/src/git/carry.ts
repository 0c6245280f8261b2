import { BridgeError } from '@codex-thread-bridge/core/contract'
import type { Git } from '@codex-thread-bridge/core/git'
import { changesOf, pathsOf, sameIndex, type Changes } from './changes.ts'
import { copyState, removeFile, stateOf } from './file-state.ts'
import { refuseChangedSubmodules } from './submodules.ts'

/** How much was carried. */
export interface Carried {
  readonly staged: number
  readonly unstaged: number
  readonly untracked: number
}

/** What carrying needs to know of a checkout: both have the same commit. */
export interface CarryPaths {
  readonly from: string
  readonly to: string
}

const NUL = Buffer.from('\0')

/** The index of the target, made what the source's is: only entries that differ from the commit are written. */
const carryIndex = async (git: Git, to: string, { staged, announced }: Changes): Promise<void> => {
  if (staged.length > 0) {
    const input = Buffer.concat(
      staged.flatMap(({ mode, id, path }) => [
        Buffer.from(/^0+$/.test(mode) ? `0 ${'0'.repeat(id.length)}\t` : `${mode} ${id}\t`),
        path,
        NUL,
      ]),
    )
    await git.run(['update-index', '-z', '--index-info'], { cwd: to, input, changes: true })
  }
  if (announced.length > 0) {
    const input = Buffer.concat(announced.flatMap((path) => [Buffer.from(':(top,literal)'), path, NUL]))
    await git.run(['add', '--intent-to-add', '--force', '--pathspec-from-file=-', '--pathspec-file-nul'], {
      cwd: to,
      input,
      changes: true,
    })
  }
}

const text = (paths: readonly Buffer[]): ReadonlySet<string> =>
  new Set(paths.map((path) => path.toString('latin1')))

/**
 * Compares two checkouts of one commit: index, files and their modes.
 * @returns the first path that differs, or nothing
 */
export const firstDifference = async (git: Git, { from, to }: CarryPaths): Promise<string | undefined> => {
  const [source, target] = [await changesOf(git, from), await changesOf(git, to)]
  if (!sameIndex(source, target)) return 'the index'
  const known = text(pathsOf(source))
  for (const path of pathsOf(source))
    if ((await stateOf(from, path)) !== (await stateOf(to, path))) return path.toString('utf8')
  return pathsOf(target)
    .find((path) => !known.has(path.toString('latin1')))
    ?.toString('utf8')
}

/**
 * The uncommitted changes of a checkout, when all of them can be carried. Reads only.
 * @throws BridgeError uncarried_changes that names what cannot
 */
export const changesToCarry = async (git: Git, from: string): Promise<Changes> => {
  const changes = await changesOf(git, from)
  await refuseChangedSubmodules(git, from)
  return changes
}

/**
 * Brings the uncommitted changes of one checkout into another, clean one of the same commit: staged, unstaged and
 * untracked, each as what it is. The source is only read; what was brought is compared at the end.
 * @throws BridgeError uncarried_changes when something cannot be carried, or changed meanwhile; git_failed
 */
export const carryChanges = async (git: Git, { from, to }: CarryPaths): Promise<Carried> => {
  const changes = await changesToCarry(git, from)
  const paths = pathsOf(changes)
  // First out of the way, then in: a file may stand where a directory is to be.
  for (const path of paths) await removeFile(to, path)
  for (const path of paths) await copyState(from, to, path)
  await carryIndex(git, to, changes)
  await git.run(['update-index', '-q', '--refresh'], { cwd: to, exitCodes: [0, 1], changes: true })
  const difference = await firstDifference(git, { from, to })
  if (difference !== undefined)
    throw new BridgeError(
      'uncarried_changes',
      `The uncommitted changes of ${from} did not arrive whole: ${difference} differs. Does something else write there?`,
    )
  return {
    staged: changes.staged.length,
    unstaged: changes.unstaged.length,
    untracked: changes.untracked.length,
  }
}
