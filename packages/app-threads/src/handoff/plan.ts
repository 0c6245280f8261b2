import { realpath } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { BridgeError } from '@codex-thread-bridge/core/contract'
import { nulFields, sourceCheckout, type Git } from '@codex-thread-bridge/core/git'
import { checkoutAround, commitOf } from '../git/starting-point.ts'
import type { Direction } from './journal.ts'

/** From where to where a thread's work goes. */
export interface Plan {
  readonly direction: Direction
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
  const { root: from } = await checkoutAround(git, place)
  const revision = await commitOf(git, from, 'HEAD')
  if (revision === undefined)
    throw new BridgeError('unknown_revision', `The repository has no commit yet: ${from}`)
  const common = { from, revision, directory: relative(from, place) }
  const worktrees = await realpath(worktreesDir).catch(() => undefined)
  return worktrees !== undefined && isBelow(worktrees, from)
    ? { ...common, direction: 'worktree-to-local', to: await mainCheckout(git, from) }
    : { ...common, direction: 'local-to-worktree', to: undefined }
}
