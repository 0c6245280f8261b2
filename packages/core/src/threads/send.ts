import { AppServerError, BridgeError } from '../contract/errors.ts'
import type { MutationContext } from '../contract/tool.ts'
import type { ReceiptPatch } from '../ledger/receipt.ts'
import { checkApprovals, driftOf, type Drift } from '../policy/environment.ts'
import { newestRecord, recordOfReceipts, restoring, type EnvironmentRecord } from '../policy/recorded.ts'
import { rolloutRecords } from '../policy/rollout.ts'
import type { Environment } from '../protocol/items.ts'
import { settingsOf } from './environment-settings.ts'
import { deliverSteer, deliverTurn, type Delivered, type TurnSettings } from './deliver.ts'
import { unsubscribe } from './recording.ts'
import { threadOf } from './thread-reading.ts'

/** What to do when the thread has a running turn or queued messages. */
export const ifBusy = ['refuse', 'steer', 'queue'] as const
export type IfBusy = (typeof ifBusy)[number]

/** What to do when the thread came back with other settings than it was last known to have. */
export const onDrift = ['refuse', 'restore'] as const
export type OnDrift = (typeof onDrift)[number]

/** Every method that sending a message may call; queueing one calls `thread/queue/add` as well. */
export const sendMethods = [
  'thread/read',
  'thread/queue/list',
  'thread/resume',
  'thread/turns/list',
  'thread/items/list',
  'turn/start',
  'turn/steer',
  'thread/unsubscribe',
] as const
type Sending = MutationContext<(typeof sendMethods)[number]>

export interface Message {
  readonly threadId: string
  readonly text: string
  /** `refuse`, `steer`, or how it is queued. */
  readonly ifBusy: 'refuse' | 'steer' | (() => Promise<Delivered>)
  readonly onDrift: OnDrift
  /** What a turn of its own changes of the thread's settings; a running turn that is steered keeps its own. */
  readonly settings?: TurnSettings
}

/**
 * Sends one message into an existing thread, under its claim (contract: send_message_to_thread; policy: After resume).
 * @throws BridgeError thread_busy, thread_archived, ceiling_exceeded, escalation_refused, settings_drifted,
 *   unsupported_approval_policy: nothing was sent
 */
export const sendMessage = async (ctx: Sending, message: Message): Promise<ReceiptPatch> => {
  const { threadId } = message
  const before = await look(ctx, threadId)
  if (before.busy && message.ifBusy === 'refuse') throw busy(threadId)
  const recorded = newestRecord([
    ...(await rolloutRecords(before.path)),
    recordOfReceipts(ctx.receiptsOf(threadId)),
  ])
  const resumed = await ctx.call(
    'thread/resume',
    { threadId, excludeTurns: true },
    { record: (answer) => ({ resumed: settingsOf(answer), ...evidence(recorded, answer) }) },
  )
  try {
    await ctx.judgeThread(threadId)
    const nowBusy = before.busy || resumed.thread.status.type === 'active'
    if (nowBusy && message.ifBusy === 'refuse') throw busy(threadId)
    const drift = recorded === undefined ? [] : driftOf(recorded, resumed)
    if (recorded !== undefined && drift.length > 0)
      return await restore(ctx, message, recorded, drift, nowBusy)
    checkApprovals(resumed)
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
  { threadId, text, ifBusy: when, settings }: Message,
  nowBusy: boolean,
): Promise<Delivered> => {
  if (!nowBusy || when === 'refuse') return deliverTurn(ctx, threadId, text, settings)
  return when === 'steer' ? deliverSteer(ctx, threadId, text, settings) : when()
}

/** Whether it has a running turn or a queued message (which starts by itself at the resume), and where its rollout is. */
const look = async (ctx: Sending, threadId: string) => {
  const thread = await threadOf(ctx, threadId)
  return { path: thread.path, busy: thread.status.type === 'active' || (await hasQueued(ctx, threadId)) }
}

const hasQueued = async (ctx: Sending, threadId: string): Promise<boolean> => {
  try {
    return (await ctx.call('thread/queue/list', { threadId, limit: 1 })).data.length > 0
  } catch (error) {
    if (AppServerError.is(error) && error.code === 'method_unavailable') return false
    throw error
  }
}

/** What the receipt keeps of the comparison; without a record there is nothing to compare with. */
const evidence = (recorded: EnvironmentRecord | undefined, resumed: Environment): ReceiptPatch => {
  if (recorded === undefined) return { environmentEvidence: 'none' }
  return { environmentEvidence: recorded.source, recorded, ...verification(driftOf(recorded, resumed)) }
}

const verification = (drift: readonly Drift[]): ReceiptPatch => ({
  verifiedEnvironment: {
    matches: drift.length === 0,
    differences: drift.map(({ field, recorded, resumed }) => ({
      field,
      expected: recorded,
      actual: resumed,
    })),
  },
})

const drifted = (threadId: string, drift: readonly Drift[], why: string): BridgeError =>
  new BridgeError(
    'settings_drifted',
    `Thread ${threadId} came back with other settings than it was last known to have (${drift.map(({ field }) => field).join(', ')}); ${why}`,
    { details: { differences: drift } },
  )

/**
 * Sends the message together with the recorded settings, where the caller allows it, and reads them back.
 * Only a turn of its own can carry them: a running or queued one is refused.
 */
const restore = async (
  ctx: Sending,
  { threadId, text, onDrift: allowed }: Message,
  recorded: EnvironmentRecord,
  drift: readonly Drift[],
  nowBusy: boolean,
): Promise<ReceiptPatch> => {
  if (allowed === 'refuse') throw drifted(threadId, drift, 'nothing was sent.')
  if (nowBusy) throw drifted(threadId, drift, 'a busy thread cannot be restored: nothing was sent.')
  const settings = restoring(recorded)
  if (settings === undefined || recorded.cwd !== ctx.receipt.current().resumed?.cwd)
    throw drifted(threadId, drift, 'they are not known well enough to be restored: nothing was sent.')
  checkApprovals(recorded)
  const delivered = await deliverTurn(ctx, threadId, text, settings)
  const left = await readBack(ctx, threadId, recorded, delivered)
  if (left.length > 0)
    throw new BridgeError(
      'environment_mismatch',
      `The message was sent to thread ${threadId} with its recorded settings, but it reads back otherwise (${left.map(({ field }) => field).join(', ')}).`,
      { details: { differences: left } },
    )
  return delivered
}

/**
 * What still differs from the record once the message is there. What was sent was sent: when it cannot be read back, the
 * message is accepted all the same, and the receipt has no `effective`.
 */
const readBack = async (
  ctx: Sending,
  threadId: string,
  recorded: EnvironmentRecord,
  delivered: Delivered,
): Promise<readonly Drift[]> => {
  try {
    await ctx.receipt.checkpoint(delivered)
    const answer = await ctx.call(
      'thread/resume',
      { threadId, excludeTurns: true },
      {
        record: (effective) => ({
          effective: settingsOf(effective),
          ...verification(driftOf(recorded, effective)),
        }),
      },
    )
    return driftOf(recorded, answer)
  } catch (error) {
    if (!BridgeError.is(error)) throw error
    ctx.log('warn', 'not_read_back', { threadId, code: error.code })
    return []
  }
}
