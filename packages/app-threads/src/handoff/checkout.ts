import { BridgeError } from '@codex-thread-bridge/core/contract'
import type { Git } from '@codex-thread-bridge/core/git'
import type { CarryPaths } from '../git/carry.ts'
import { changesOf, pathsOf } from '../git/changes.ts'
import { cleanChanges } from '../git/clean.ts'
import { commitOf } from '../git/starting-point.ts'

const PATHS_SHOWN = 5

/** The destination's changes that are not the source's. */
const ownChanges = async (git: Git, { from, to }: CarryPaths, ours: boolean): Promise<readonly string[]> => {
  const target = pathsOf(await changesOf(git, to))
  const source = ours ? pathsOf(await changesOf(git, from)) : []
  const known = new Set(source.map((path) => path.toString('latin1')))
  return target.filter((path) => !known.has(path.toString('latin1'))).map((path) => path.toString('utf8'))
}

/**
 * Refuses a destination with changes of its own. `resumed`: what it shares with the source was carried there before.
 * @throws BridgeError handoff_conflict
 */
export const checkDestination = async (git: Git, paths: CarryPaths, resumed: boolean): Promise<void> => {
  const own = await ownChanges(git, paths, resumed)
  if (own.length === 0) return
  throw new BridgeError(
    'handoff_conflict',
    `${paths.to} has uncommitted changes of its own: ${own.slice(0, PATHS_SHOWN).join(', ')}${own.length > PATHS_SHOWN ? ', …' : ''}.`,
    { details: { paths: own.slice(0, PATHS_SHOWN) } },
  )
}

/**
 * Whether the destination must be brought forward to a commit, and from which.
 * @throws BridgeError handoff_conflict when it has commits that the source does not have
 */
export const behind = async (git: Git, to: string, revision: string): Promise<string | undefined> => {
  const head = await commitOf(git, to, 'HEAD')
  if (head === revision || head === undefined) return undefined
  const { exitCode } = await git.run(['merge-base', '--is-ancestor', head, revision], {
    cwd: to,
    exitCodes: [0, 1],
  })
  if (exitCode === 0) return head
  throw new BridgeError(
    'handoff_conflict',
    `${to} is at ${head}, which is not part of the history of ${revision}.`,
  )
}

/** Brings a clean checkout forward along its own branch. */
export const fastForward = async (git: Git, to: string, revision: string): Promise<void> => {
  await git.run(['merge', '--quiet', '--ff-only', revision], { cwd: to, changes: true })
}

/** Makes a destination what it was: only what the source has just so is taken away. */
export const takeBack = async (
  git: Git,
  { from, to }: CarryPaths,
  previousRevision: string | undefined,
): Promise<void> => {
  await cleanChanges(git, { from: to, to: from })
  if (previousRevision !== undefined)
    await git.run(['reset', '--quiet', '--keep', previousRevision], { cwd: to, changes: true })
}
