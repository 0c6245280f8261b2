import { realpath } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { nulFields, sourceCheckout, type Git, type SourceCheckout } from '@codex-thread-bridge/core/git'
import { checkoutAround, commitOf, noCommit } from '../git/starting-point.ts'
import type { Direction } from './journal.ts'

/** From where to where a thread's work goes. */
export interface Plan {
  readonly direction: Direction
  /** The checkout that the thread works in: `from` is its root. */
  readonly source: SourceCheckout
  readonly from: string
  /** Undefined: a worktree that is to be made. */
  readonly to: string | undefined
  readonly revision: string
  readonly directory: string
}

/** The checkout that a worktree belongs to. @throws BridgeError invalid_source_repository when there is none */
const mainCheckout = async (git: Git, worktree: string): Promise<string> => {
  const { stdout } = await git.run(['worktree', 'list', '--porcelain', '-z'], { cwd: worktree })
  const [first] = nulFields(stdout)
  const path = first?.toString('utf8').replace(/^worktree /, '') ?? ''
  return (await sourceCheckout(git, path)).root
}

const isBelow = (root: string, path: string): boolean => path.startsWith(root + sep)

/**
 * Where a thread that works in `cwd` is handed off to: a worktree of its own, or back to the checkout.
 * @throws BridgeError invalid_source_repository, unknown_revision, git_*
 */
export const planHandoff = async (git: Git, cwd: string, worktreesDir: string): Promise<Plan> => {
  const place = await realpath(cwd)
  const source = await checkoutAround(git, place, {
    field: 'threadId',
    hint: 'Only a thread that works in a Git checkout can be handed off; this one stays where it is.',
  })
  const { root: from } = source
  const revision = await commitOf(git, from, 'HEAD')
  if (revision === undefined) throw noCommit(from)
  const common = { source, from, revision, directory: relative(from, place) }
  const worktrees = await realpath(worktreesDir).catch(() => undefined)
  return worktrees !== undefined && isBelow(worktrees, from)
    ? { ...common, direction: 'worktree-to-local', to: await mainCheckout(git, from) }
    : { ...common, direction: 'local-to-worktree', to: undefined }
}
