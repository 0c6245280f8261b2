import type { ReconcileContext, Verdict } from '../contract/tool.ts'
import type { Receipt } from '../ledger/receipt.ts'
import { findCreated, lastSent, type Looked } from './find.ts'
import { reconcileMessage, serverGone } from './reconcile-message.ts'

const answered = (receipt: Receipt, method: string): boolean =>
  receipt.steps.some((step) => step.name === method && step.state === 'answered')

/** Whether everything before the prompt was done: these steps are never continued by us. */
const prepared = (receipt: Receipt, titled: boolean): boolean =>
  answered(receipt, 'thread/section/move') &&
  answered(receipt, 'thread/settings/update') &&
  (!titled || answered(receipt, 'thread/name/set'))

export interface AskedFor {
  readonly title: boolean
  readonly prompt: boolean
}

/** Whether a thread was made, and all that was asked for with it (receipts: Reconciliation, create). Read-only. */
export const reconcileCreation = async (
  ctx: ReconcileContext,
  receipt: Receipt,
  asked: AskedFor,
): Promise<Verdict> => {
  const looked: Looked = { calls: 0, pages: 0 }
  const started = lastSent(receipt, ['thread/start'])
  if (started === undefined)
    return { verdict: 'not_found', looked: { ...looked, note: 'thread/start was never sent' } }
  const threadId = receipt.threadId ?? (await search(ctx, receipt, started.at * 1000, looked))
  if (threadId === undefined) return withoutThread(ctx, receipt, looked)
  const patch = { threadId }
  if (!prepared(receipt, asked.title)) return { verdict: 'created_incomplete', looked: { ...looked }, patch }
  if (!asked.prompt) return { verdict: 'created', looked: { ...looked }, patch }
  if (lastSent(receipt, ['turn/start']) === undefined)
    return { verdict: 'created_incomplete', looked: { ...looked }, patch }
  const message = await reconcileMessage(ctx, receipt, threadId)
  const both = { ...message, patch: { ...patch, ...message.patch } }
  if (message.verdict === 'delivered') return { ...both, verdict: 'created' }
  return message.verdict === 'not_delivered' ? { ...both, verdict: 'created_incomplete' } : both
}

/** A thread that nothing followed yet is in the memory of its App Server alone: it is gone when that one is. */
const withoutThread = (ctx: ReconcileContext, receipt: Receipt, looked: Looked): Verdict => {
  if (receipt.deliveryMarker === undefined)
    return {
      verdict: 'unknowable',
      looked: { ...looked, note: 'delivery markers were off: the thread cannot be recognised' },
    }
  if (looked.partial === true || !serverGone(ctx, receipt)) return { verdict: 'not_found', looked }
  const note = 'the App Server has been restarted since, and the thread would have been in its memory only'
  const error = {
    code: 'not_delivered',
    message: 'There is no thread of this request, and none can appear any more.',
  }
  return { verdict: 'not_delivered', looked: { ...looked, note }, patch: { error } }
}

const search = async (ctx: ReconcileContext, receipt: Receipt, sentAtMs: number, looked: Looked) =>
  receipt.deliveryMarker === undefined
    ? undefined
    : findCreated(ctx, receipt.deliveryMarker, sentAtMs, looked)
