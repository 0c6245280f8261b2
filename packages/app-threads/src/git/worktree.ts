import { createHash } from 'node:crypto'
import { mkdir, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { BridgeError, type MutationContext } from '@codex-thread-bridge/core/contract'
import {
  addWorktree,
  checkDestination,
  checkOut,
  inspectWorktree,
  lockReason,
  reserveDestination,
  type Git,
  type Reservation,
} from '@codex-thread-bridge/core/git'
import { carryChanges, type Carried } from './carry.ts'
import type { StartingPoint } from './starting-point.ts'

const DIGITS = 12
const PRIVATE = { recursive: true, mode: 0o700 } as const

/** What a receipt keeps of the worktree that it made. */
export interface WorktreeRecord {
  readonly sourceRepository: string
  readonly checkout: string
  readonly revision: string
  readonly branch: string | null
  readonly state: 'planned' | 'registered' | 'created'
  readonly carried?: Carried
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, DIGITS)

/** Where the worktree of a request is: below the state directory, one directory a repository, the name from the id. */
export const worktreePath = async (
  worktreesDir: string,
  { source }: StartingPoint,
  requestId: string,
): Promise<string> => {
  const parent = join(worktreesDir, `${basename(source.root)}-${digest(source.commonDirectory)}`)
  await mkdir(parent, PRIVATE)
  return join(await realpath(parent), digest(requestId))
}

/**
 * Makes the worktree of a request, each act a step of its receipt; it stays locked until a person removes it.
 * @throws BridgeError git_*, destination_*, uncarried_changes: what was made is kept, and told in the receipt
 */
export const makeWorktree = async (
  ctx: Pick<MutationContext<never>, 'step' | 'receipt'>,
  git: Git,
  point: StartingPoint,
  path: string,
): Promise<void> => {
  const { source, revision, newBranch, carry } = point
  const record = (members: Pick<WorktreeRecord, 'state' | 'carried'>): { worktree: WorktreeRecord } => ({
    worktree: {
      sourceRepository: source.root,
      checkout: path,
      revision,
      branch: newBranch ?? null,
      ...members,
    },
  })
  const access = { cwd: source.root, roots: [path] }
  await ctx.receipt.checkpoint({ phase: 'creating', ...record({ state: 'planned' }) })
  const destination = await ctx.step(
    'add_worktree',
    async () => {
      await checkDestination(path)
      const reserved = await reserveDestination(path)
      const reason = lockReason(ctx.receipt.requestId)
      await addWorktree(git, { source, destination: reserved, revision, reason })
      return reserved
    },
    { access, record: () => record({ state: 'registered' }) },
  )
  await ctx.step('check_out', () => fill(git, point, destination), { access })
  const carried = carry
    ? await ctx.step('carry_changes', () => carryChanges(git, { from: source.root, to: path }), { access })
    : undefined
  await verify(git, point, path)
  await ctx.receipt.checkpoint({
    phase: 'worktree-ready',
    ...record({ state: 'created', ...(carried === undefined ? {} : { carried }) }),
  })
}

const fill = async (git: Git, point: StartingPoint, destination: Reservation): Promise<void> => {
  const { source, revision, newBranch } = point
  const { path } = destination
  await checkOut(git, { source, destination, revision })
  if (newBranch === undefined) return
  await git.run(['branch', '--no-track', '--', newBranch, revision], { cwd: path, changes: true })
  await git.run(['symbolic-ref', 'HEAD', `refs/heads/${newBranch}`], { cwd: path, changes: true })
}

/** @throws BridgeError git_failed when the worktree is not at the commit, or not clean though nothing was carried */
const verify = async (git: Git, { revision, carry }: StartingPoint, path: string): Promise<void> => {
  const { head, clean, dirty } = await inspectWorktree(git, path)
  if (head === revision && (clean || carry)) return
  throw new BridgeError(
    'git_failed',
    head === revision
      ? `The new worktree is not clean: ${dirty.join(', ')}`
      : `The new worktree is at ${head ?? 'no commit'} instead of ${revision}.`,
    { next: 'inspect', details: { path } },
  )
}
