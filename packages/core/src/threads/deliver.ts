import { AppServerError } from '../contract/errors.ts'
import type { MutationContext } from '../contract/tool.ts'
import type { ReceiptPatch } from '../ledger/receipt.ts'
import type { Params } from '../protocol/methods.ts'
import { textInput } from './message-text.ts'
import { startedTurn, watchForMessage } from './recording.ts'
import { listTurns } from './thread-reading.ts'

/** Refusals of turn/steer that prove that the message was not delivered. */
const STEER_REFUSED = /no active turn|expected active turn/i
const QUEUE_PAGE = 100

type Steering = MutationContext<'turn/start' | 'turn/steer' | 'thread/turns/list' | 'thread/items/list'>
type Queueing = MutationContext<'thread/queue/add' | 'thread/queue/list' | 'thread/items/list'>

export interface Delivered extends ReceiptPatch {
  readonly turnId?: string
  readonly delivery: { readonly state: 'recorded' | 'acknowledged'; readonly as: 'turn' | 'steer' | 'queue' }
}

/** What a turn changes of its thread's settings. */
export type TurnSettings = Omit<Params<'turn/start'>, 'threadId' | 'input' | 'clientUserMessageId'>

type TurnContext = MutationContext<'turn/start' | 'thread/items/list'>

/** `turn/start`, then up to 2 s for the durable message (receipts: Accepted, acknowledged, recorded). */
export const deliverTurn = async (
  ctx: TurnContext,
  threadId: string,
  text: string,
  settings: TurnSettings = {},
): Promise<Delivered> => {
  const watch = watchForMessage(ctx, threadId)
  try {
    const { turn } = await ctx.call(
      'turn/start',
      { threadId, input: textInput(text), ...settings },
      { record: (answer) => ({ turnId: answer.turn.id, delivery: { state: 'acknowledged', as: 'turn' } }) },
    )
    const recorded = await watch.recorded()
    if (recorded === undefined) return { turnId: turn.id, delivery: { state: 'acknowledged', as: 'turn' } }
    const ours = await startedTurn(ctx, threadId, recorded.turnId).catch(() => true)
    return { turnId: recorded.turnId, delivery: { state: 'recorded', as: ours ? 'turn' : 'steer' } }
  } finally {
    watch.stop()
  }
}

/** `turn/steer` of the newest turn; a refusal that proves non-delivery is followed by `turn/start`, once. */
export const deliverSteer = async (
  ctx: Steering,
  threadId: string,
  text: string,
  settings: TurnSettings = {},
): Promise<Delivered> => {
  const newest = await listTurns(ctx, { threadId, limit: 1, itemsView: 'notLoaded' })
  const turnId = newest.data[0]?.id
  if (turnId === undefined) return deliverTurn(ctx, threadId, text, settings)
  const watch = watchForMessage(ctx, threadId)
  try {
    const answer = await ctx.call(
      'turn/steer',
      { threadId, expectedTurnId: turnId, input: textInput(text) },
      { record: (steered) => ({ turnId: steered.turnId, delivery: { state: 'acknowledged', as: 'steer' } }) },
    )
    const recorded = await watch.recorded()
    return {
      turnId: recorded?.turnId ?? answer.turnId,
      delivery: { state: recorded === undefined ? 'acknowledged' : 'recorded', as: 'steer' },
    }
  } catch (error) {
    if (!AppServerError.is(error) || !STEER_REFUSED.test(error.rpc.message)) throw error
  } finally {
    watch.stop()
  }
  return deliverTurn(ctx, threadId, text, settings)
}

/** `thread/queue/add`; recorded once the queue, or a turn that already began, shows the marker. */
export const deliverQueued = async (ctx: Queueing, threadId: string, text: string): Promise<Delivered> => {
  const watch = watchForMessage(ctx, threadId)
  const { marker } = ctx.receipt
  try {
    await ctx.call(
      'thread/queue/add',
      { threadId, input: textInput(text) },
      { record: () => ({ delivery: { state: 'acknowledged', as: 'queue' } }) },
    )
    if (marker === undefined) return { delivery: { state: 'acknowledged', as: 'queue' } }
    const queue = await ctx.call('thread/queue/list', { threadId, limit: QUEUE_PAGE }).catch(() => undefined)
    if (queue?.data.some((queued) => queued.clientUserMessageId === marker) === true)
      return { delivery: { state: 'recorded', as: 'queue' } }
    const begun = await watch.recorded()
    return begun === undefined
      ? { delivery: { state: 'acknowledged', as: 'queue' } }
      : { turnId: begun.turnId, delivery: { state: 'recorded', as: 'queue' } }
  } finally {
    watch.stop()
  }
}
