import { AppServerError, BridgeError } from '../contract/errors.ts'
import type { MutationContext } from '../contract/tool.ts'
import { checkApprovals, environmentChanges } from '../policy/environment.ts'
import type { ReceiptPatch } from '../ledger/receipt.ts'
import { recordedEnvironment, type RecordedEnvironment } from '../policy/recorded.ts'
import type { Environment } from '../protocol/items.ts'
import { withoutTurns } from './create.ts'
import { deliverQueued, deliverSteer, deliverTurn, type Delivered } from './deliver.ts'
import { unsubscribe } from './recording.ts'

/** What to do when the thread has a running turn or queued messages. */
export const ifBusy = ['refuse', 'steer', 'queue'] as const
export type IfBusy = (typeof ifBusy)[number]

/** Every method that sending a message may call. */
export const sendMethods = [
  'thread/read',
  'thread/queue/list',
  'thread/resume',
  'thread/turns/list',
  'thread/items/list',
  'turn/start',
  'turn/steer',
  'thread/queue/add',
  'thread/unsubscribe',
] as const
type Sending = MutationContext<(typeof sendMethods)[number]>

export interface Message {
  readonly threadId: string
  readonly text: string
  readonly ifBusy: IfBusy
}

/**
 * Sends one message into an existing thread, under its claim (contract: send_message_to_thread).
 * @throws BridgeError thread_busy, thread_archived, environment_unproven, unsupported_approval_policy: nothing was sent
 */
export const sendMessage = async (ctx: Sending, message: Message): Promise<Delivered> => {
  const { threadId } = message
  const busyBefore = await isBusy(ctx, threadId)
  if (busyBefore && message.ifBusy === 'refuse') throw busy(threadId)
  const recorded = recordedEnvironment(ctx.receiptsOf(threadId))
  const resumed = await ctx.call(
    'thread/resume',
    { threadId, excludeTurns: true },
    { record: (answer) => ({ resumed: withoutTurns(answer), ...verification(recorded, answer) }) },
  )
  try {
    checkProven(threadId, recorded, resumed)
    checkApprovals(resumed)
    const nowBusy = busyBefore || resumed.thread.status.type === 'active'
    if (nowBusy && message.ifBusy === 'refuse') throw busy(threadId)
    return await deliver(ctx, message, nowBusy)
  } finally {
    await unsubscribe(ctx, threadId)
  }
}

const busy = (threadId: string): BridgeError =>
  new BridgeError(
    'thread_busy',
    `Thread ${threadId} has a running turn or queued messages; nothing was sent.`,
  )

const deliver = (
  ctx: Sending,
  { threadId, text, ifBusy: when }: Message,
  nowBusy: boolean,
): Promise<Delivered> => {
  if (!nowBusy || when === 'refuse') return deliverTurn(ctx, threadId, text)
  return when === 'steer' ? deliverSteer(ctx, threadId, text) : deliverQueued(ctx, threadId, text)
}

/** A running turn, or a queued message: that one starts by itself at the resume. */
const isBusy = async (ctx: Sending, threadId: string): Promise<boolean> => {
  const { thread } = await ctx.call('thread/read', { threadId })
  return thread.status.type === 'active' || (await hasQueued(ctx, threadId))
}

const hasQueued = async (ctx: Sending, threadId: string): Promise<boolean> => {
  try {
    return (await ctx.call('thread/queue/list', { threadId, limit: 1 })).data.length > 0
  } catch (error) {
    if (AppServerError.is(error) && error.code === 'method_unavailable') return false
    throw error
  }
}

const verification = (recorded: RecordedEnvironment | undefined, resumed: Environment): ReceiptPatch => {
  if (recorded === undefined) return {}
  const differences = environmentChanges(recorded.environment, resumed)
  return { verifiedEnvironment: { matches: differences.length === 0, differences } }
}

/**
 * Until drift is judged by the rollout, only an environment that one of our receipts verified is trusted.
 * @throws BridgeError environment_unproven
 */
const checkProven = (
  threadId: string,
  recorded: RecordedEnvironment | undefined,
  resumed: Environment,
): void => {
  if (recorded === undefined)
    throw new BridgeError(
      'environment_unproven',
      `No receipt of this bridge has verified the environment of thread ${threadId}; nothing was sent.`,
    )
  const differences = environmentChanges(recorded.environment, resumed)
  if (differences.length === 0) return
  throw new BridgeError(
    'environment_unproven',
    `Thread ${threadId} came back with another environment than receipt ${recorded.requestId} verified (${differences.map(({ field }) => field).join(', ')}); nothing was sent.`,
    { details: { differences, verifiedBy: recorded.requestId } },
  )
}
