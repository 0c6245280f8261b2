import { AppServerError } from '../contract/errors.ts'
import type { ReconcileContext, Verdict } from '../contract/tool.ts'
import type { Receipt } from '../ledger/receipt.ts'
import { inHistory, inQueue, lastSent, type Looked } from './find.ts'

const DISPATCH = ['turn/start', 'turn/steer', 'thread/queue/add']
/** A message between queue and history is in neither for up to 59 ms (measured). */
const HAND_OVER_MS = 100

const SERVER_CHANGED = 'the App Server has been restarted since the message was sent'
const NEEDS_RESUME =
  'after a crash of the App Server a lost turn shows only once somebody resumes the thread; the bridge does not'

/** Whether the server that got the message is provably another process than the one that answers. */
export const serverGone = (ctx: ReconcileContext, receipt: Receipt): boolean =>
  receipt.server !== undefined && receipt.server.socketMtimeNs !== ctx.server.socketMtimeNs

/**
 * Whether a message arrived (receipts: Reconciliation, message). Read-only.
 * `delivered` once its marker is seen, or its dispatch was answered; `not_delivered` only with proof.
 */
export const reconcileMessage = async (
  ctx: ReconcileContext,
  receipt: Receipt,
  threadId: string,
): Promise<Verdict> => {
  const looked: Looked = { calls: 0, pages: 0 }
  const sent = lastSent(receipt, DISPATCH)
  if (sent === undefined)
    return { verdict: 'not_delivered', looked: { ...looked, note: 'the message was never sent' } }
  const marker = receipt.deliveryMarker
  const answered = sent.state === 'answered'
  if (marker === undefined)
    return answered
      ? { verdict: 'delivered', looked: { ...looked, note: 'its answer is known' } }
      : {
          verdict: 'unknowable',
          looked: { ...looked, note: 'delivery markers were off: the message cannot be recognised' },
        }
  try {
    return await search(ctx, receipt, threadId, marker, sent.at * 1000, looked)
  } catch (error) {
    if (!AppServerError.is(error)) throw error
    const note = `the thread cannot be read: ${error.rpc.message}`
    return { verdict: 'not_found', looked: { ...looked, note } }
  }
}

const search = async (
  ctx: ReconcileContext,
  receipt: Receipt,
  threadId: string,
  marker: string,
  sentAtMs: number,
  looked: Looked,
): Promise<Verdict> => {
  const before = await queueOf(ctx, threadId, marker, looked)
  if (before.queued) return queued(looked)
  await ctx.clock.sleep(HAND_OVER_MS, ctx.signal)
  const { message, active, complete } = await inHistory(ctx, threadId, marker, sentAtMs, looked)
  if (message !== undefined) {
    const as = receipt.delivery?.as === 'queue' ? 'queue' : message.first ? 'turn' : 'steer'
    const { turnId, itemId } = message
    return { verdict: 'delivered', looked, patch: { turnId, itemId, delivery: { state: 'recorded', as } } }
  }
  const after = await queueOf(ctx, threadId, marker, looked)
  if (after.queued) return queued(looked)
  if (active) return { verdict: 'not_found', looked: { ...looked, note: 'the thread is active' } }
  return serverGone(ctx, receipt) && after.empty && complete
    ? { verdict: 'not_delivered', looked: { ...looked, note: `${SERVER_CHANGED}; ${NEEDS_RESUME}` } }
    : { verdict: 'not_found', looked }
}

const queued = (looked: Looked): Verdict => ({
  verdict: 'delivered',
  looked: looked,
  patch: { delivery: { state: 'recorded', as: 'queue' } },
})

/** The queue, where the server has one. */
const queueOf = async (ctx: ReconcileContext, threadId: string, marker: string, looked: Looked) => {
  try {
    return await inQueue(ctx, threadId, marker, looked)
  } catch (error) {
    if (AppServerError.is(error) && error.code === 'method_unavailable') return { queued: false, empty: true }
    // The queue of an archived thread cannot be seen, its history can.
    if (AppServerError.is(error) && error.code === 'thread_archived') return { queued: false, empty: false }
    throw error
  }
}
