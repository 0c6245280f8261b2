import type { ReconcileContext, Verdict } from '@codex-thread-bridge/core/contract'
import type { Git } from '@codex-thread-bridge/core/git'
import type { Receipt, ReceiptPatch } from '@codex-thread-bridge/core/ledger'
import { reconcileCreation } from '@codex-thread-bridge/core/threads'
import { Value } from 'typebox/value'
import { lookAtCheckout, type Found } from './look-at-checkout.ts'
import { nothingToRecover, recoveryOf } from './recovery.ts'
import { WorktreeRecord } from './worktree-record.ts'

const wasSent = (receipt: Receipt, name: string): boolean =>
  receipt.steps.some((step) => step.name === name && step.state !== 'not_sent' && step.state !== 'rejected')

const recordOf = (receipt: Receipt): WorktreeRecord => Value.Parse(WorktreeRecord, receipt.worktree)

const placesOf = ({ sourceRepository, checkout }: WorktreeRecord) => ({
  source_repository: sourceRepository,
  destination: checkout,
})

/** The launch ended before its thread: what Git says is the whole truth. */
const withoutThread = ({ worktree, place, evidence }: Found): Verdict => {
  const nothing = worktree.state === 'planned'
  const { recovery, recoveryRequired } = recoveryOf(placesOf(worktree), { state: worktree.state, place })
  return {
    verdict: 'created_incomplete',
    looked: { git: evidence, note: 'thread/start was never sent' },
    patch: {
      worktree,
      recoveryRequired,
      recovery:
        recovery && `A Git command of a killed bridge goes on to its end: let it end first. ${recovery}`,
      next: nothing ? 'new_request_id' : 'inspect',
      error: {
        code: 'not_completed',
        message: nothing
          ? 'The launch ended before its thread was started, and nothing of it stands at the destination.'
          : 'The launch ended before its thread was started; the destination is kept as `worktree` says.',
      },
    },
  }
}

/** How far a launch came that never sent `thread/start`: no App Server is asked. Undefined when one must be. */
export const reconcileCheckout = async (git: Git, receipt: Receipt): Promise<Verdict | undefined> =>
  wasSent(receipt, 'thread/start')
    ? undefined
    : withoutThread(await lookAtCheckout(git, recordOf(receipt), receipt.requestId))

const requested = ({ initialPrompt }: Receipt): boolean =>
  typeof initialPrompt === 'object' &&
  initialPrompt !== null &&
  'state' in initialPrompt &&
  initialPrompt.state !== 'not_requested'

const isRecorded = ({ delivery }: ReceiptPatch): boolean =>
  typeof delivery === 'object' && delivery !== null && 'state' in delivery && delivery.state === 'recorded'

/** What the verdict makes of the receipt's own members. */
const outcomeOf = (
  receipt: Receipt,
  { worktree, place }: Found,
  { verdict, patch = {} }: Verdict,
): ReceiptPatch => {
  const prompt = (state: string): ReceiptPatch => (requested(receipt) ? { initialPrompt: { state } } : {})
  const threadId = typeof patch.threadId === 'string' ? { threadId: patch.threadId } : {}
  const recovery = recoveryOf(placesOf(worktree), { state: worktree.state, place, ...threadId })
  switch (verdict) {
    case 'created':
      return {
        phase: 'complete',
        ...nothingToRecover,
        ...prompt(isRecorded(patch) ? 'recorded' : 'accepted'),
      }
    case 'created_incomplete':
    case 'not_delivered':
      return { next: 'inspect', ...recovery, ...prompt('not_sent') }
    default:
      return receipt.status === 'accepted' ? {} : { ...recovery }
  }
}

/** Finds out how far a launch came: the thread by its marker, the worktree by Git. Read-only. */
export const reconcileLaunch = async (
  ctx: ReconcileContext,
  git: Git,
  receipt: Receipt,
): Promise<Verdict> => {
  const found = await lookAtCheckout(git, recordOf(receipt), receipt.requestId, { signal: ctx.signal })
  const asked = { title: receipt.title !== undefined, prompt: requested(receipt) }
  const verdict = await reconcileCreation(ctx, receipt, asked)
  const { worktree, evidence } = found
  return {
    ...verdict,
    looked: { ...verdict.looked, git: evidence },
    patch: { ...verdict.patch, worktree, ...outcomeOf(receipt, found, verdict) },
  }
}
