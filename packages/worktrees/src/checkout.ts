import { BridgeError, given, type MutationContext } from '@codex-thread-bridge/core/contract'
import {
  addWorktree,
  checkDestination,
  checkOut,
  inspectWorktree,
  judgeSource,
  localCommit,
  lockReason,
  registeredWorktree,
  reserveDestination,
  sourceCheckout,
  type Git,
  type InspectedWorktree,
  type Looking,
  type SourceCheckout,
} from '@codex-thread-bridge/core/git'
import type { Method } from '@codex-thread-bridge/core/protocol'
import { Value } from 'typebox/value'
import { exists, lookAtCheckout } from './look-at-checkout.ts'
import { enter } from './phase.ts'
import { recoveryOf } from './recovery.ts'
import { accessOf, type Input } from './worktree-input.ts'
import { WorktreeRecord, worktreeOf, type WorktreeState } from './worktree-record.ts'

/** What is to be made, once source, revision and destination are known to be good. */
export interface PlannedCheckout {
  readonly source: SourceCheckout
  readonly revision: string
  readonly destination: string
}

/** A refusal says which argument it is about. */
const about = async <T>(field: string, look: () => Promise<T>): Promise<T> => {
  try {
    return await look()
  } catch (error) {
    if (!BridgeError.is(error) || error.next !== 'fix_call') throw error
    throw new BridgeError(error.code, error.message, {
      field,
      hint: error.hint,
      details: error.details ?? {},
    })
  }
}

/**
 * Looks whether the worktree can be made; changes nothing.
 * @throws BridgeError invalid_source_repository, ceiling_exceeded, unknown_revision, invalid_destination, destination_exists, git_*
 */
export const planCheckout = async (
  ctx: MutationContext<Method>,
  git: Git,
  input: Input,
): Promise<PlannedCheckout> => {
  const looking = { signal: ctx.signal }
  const source = await about('source_repository', () => sourceCheckout(git, input.source_repository, looking))
  await judgeSource(ctx, source)
  const revision = await about('starting_revision', () =>
    localCommit(git, source, input.starting_revision, looking),
  )
  await about('destination', () => checkDestination(input.destination))
  await about('destination', () => checkNotOnRecord(git, source, input.destination, looking))
  return { source, revision, destination: input.destination }
}

/** A worktree that was there once and is still on record would stand in the way of a new one. */
const checkNotOnRecord = async (
  git: Git,
  source: SourceCheckout,
  destination: string,
  looking: Looking,
): Promise<void> => {
  const registered = await registeredWorktree(git, source, destination, looking)
  if (registered === undefined) return
  const lock = registered.locked ? `, locked (${registered.lockReason ?? 'no reason given'})` : ''
  throw new BridgeError(
    'invalid_destination',
    `The source has a worktree on record there that is missing${lock}; take it off with \`git worktree unlock\` and \`git worktree prune\`, or pass another destination: ${destination}`,
    { details: { path: destination, registered } },
  )
}

/** How a worktree differs from what was planned, in words; empty when it is as planned. */
const differences = (planned: PlannedCheckout, found: InspectedWorktree): readonly string[] => [
  ...(found.root === planned.destination ? [] : [`its root is ${found.root}`]),
  ...(found.commonDirectory === planned.source.commonDirectory
    ? []
    : [`it belongs to ${found.commonDirectory}`]),
  ...(found.head === planned.revision ? [] : [`its HEAD is ${found.head ?? 'no commit'}`]),
  ...(found.detached ? [] : ['it is on a branch']),
  ...(found.locked ? [] : ['it is not locked']),
  ...(found.clean ? [] : [`it has changes: ${found.dirty.join(', ')}`]),
]

const look = async (git: Git, planned: PlannedCheckout): Promise<InspectedWorktree> => {
  const changed = (how: readonly string[], details = {}): BridgeError =>
    new BridgeError(
      'checkout_changed',
      `The worktree ${planned.destination} is not as it was made: ${how.join('; ')}.`,
      { details },
    )
  if (!(await exists(planned.destination))) throw changed(['it is gone'])
  const found = await inspectWorktree(git, planned.destination)
  const differing = differences(planned, found)
  if (differing.length > 0) throw changed(differing, { worktree: found })
  return found
}

/** Git may have done its work before it failed, or have cleaned up after itself: the receipt tells what stands. */
const tellingWhatStands = async <T>(
  ctx: MutationContext<Method>,
  git: Git,
  input: Input,
  act: () => Promise<T>,
): Promise<T> => {
  try {
    return await act()
  } catch (error) {
    if (!BridgeError.is(error) || !/^git_|^destination_changed$|^checkout_changed$/.test(error.code))
      throw error
    const receipt = ctx.receipt.current()
    const known = Value.Parse(WorktreeRecord, receipt.worktree)
    const found = await lookAtCheckout(git, known, receipt.requestId)
    // What was made whole stays told as it was made.
    const worktree = error.code === 'checkout_changed' ? known : found.worktree
    const { state } = worktree
    const recovery = recoveryOf(input, {
      state,
      place: found.place,
      ...given({ threadId: receipt.threadId }),
    })
    // What cannot be saved now is saved with how it ended.
    await ctx.receipt.checkpoint({ worktree, ...recovery }).catch(() => undefined)
    throw error
  }
}

/** @throws BridgeError checkout_changed with what is not as planned; the receipt's recovery fits what stands there */
export const proveCheckout = (
  ctx: MutationContext<Method>,
  git: Git,
  planned: PlannedCheckout,
  input: Input,
): Promise<InspectedWorktree> => tellingWhatStands(ctx, git, input, () => look(git, planned))

/**
 * Makes the locked worktree, one journalled step after the other. Nothing that stands there is touched.
 * @throws BridgeError destination_exists, destination_changed, checkout_changed, git_*
 */
export const makeCheckout = async (
  ctx: MutationContext<Method>,
  git: Git,
  planned: PlannedCheckout,
  input: Input,
): Promise<void> => {
  const { source, revision, destination } = planned
  const access = accessOf(input)
  const known = (state: WorktreeState) => ({
    worktree: worktreeOf(input, { state, gitCommonDirectory: source.commonDirectory }),
    ...recoveryOf(input, { state }),
  })
  const step = (name: string, made: WorktreeState, act: () => Promise<void>): Promise<void> =>
    tellingWhatStands(ctx, git, input, () => ctx.step(name, act, { access, record: () => known(made) }))

  await enter(ctx, 'reserving_destination', known('planned'))
  const reservation = await ctx.step('git/reserve_destination', () => reserveDestination(destination), {
    access,
    record: () => known('reserved'),
  })
  await enter(ctx, 'creating_worktree')
  const reason = lockReason(ctx.receipt.requestId)
  await step('git/worktree_add', 'registered', () =>
    addWorktree(git, { source, destination: reservation, revision, reason }),
  )
  await enter(ctx, 'checking_out_worktree')
  await step('git/checkout', 'created', () => checkOut(git, { source, destination: reservation, revision }))
  await enter(ctx, 'checking_worktree')
  const { head, detached, clean } = await proveCheckout(ctx, git, planned, input)
  await enter(ctx, 'worktree_checked', {
    worktree: worktreeOf(input, {
      state: 'created',
      gitCommonDirectory: source.commonDirectory,
      detached,
      clean,
      ...(head === undefined ? {} : { initialRevision: head }),
    }),
  })
}
