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
  if (threadId === undefined)
    return receipt.deliveryMarker === undefined
      ? {
          verdict: 'unknowable',
          looked: { ...looked, note: 'delivery markers were off: the thread cannot be recognised' },
        }
      : { verdict: 'not_found', looked: { ...looked } }
  const patch = { threadId }
  if (!prepared(receipt, asked.title)) return { verdict: 'created_incomplete', looked: { ...looked }, patch }
  if (!asked.prompt) return { verdict: 'created', looked: { ...looked }, patch }
  if (lastSent(receipt, ['turn/start']) === undefined)
    return { verdict: 'created_incomplete', looked: { ...looked }, patch }
  const message = await reconcileMessage(ctx, receipt, threadId)
  const both = { ...message, patch: { ...patch, ...message.patch } }
  if (message.verdict === 'delivered') return { ...both, verdict: 'created' }
  return message.verdict === 'not_delivered' || (message.verdict === 'not_found' && serverGone(ctx, receipt))
    ? { ...both, verdict: 'created_incomplete' }
    : both
}

const search = async (ctx: ReconcileContext, receipt: Receipt, sentAtMs: number, looked: Looked) =>
  receipt.deliveryMarker === undefined
    ? undefined
    : findCreated(ctx, receipt.deliveryMarker, sentAtMs, looked)
