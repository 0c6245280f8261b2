import { BridgeError, TransportError } from '@codex-thread-bridge/core/contract'
import type { ReceiptPatch } from '@codex-thread-bridge/core/ledger'
import { checkApprovals, driftOf, newestRecord, rolloutRecords } from '@codex-thread-bridge/core/policy'
import { deliverTurn, unsubscribe } from '@codex-thread-bridge/core/threads'
import type { HandoffContext } from './perform.ts'

/** The prompt into the new thread, which may have been made in an earlier call: it is loaded and compared first. */
const send = async (ctx: HandoffContext, threadId: string, prompt: string): Promise<ReceiptPatch> => {
  const resumed = await ctx.call('thread/resume', { threadId, excludeTurns: true })
  try {
    const recorded = newestRecord(await rolloutRecords(resumed.thread.path))
    const drift = recorded === undefined ? [] : driftOf(recorded, resumed)
    if (drift.length > 0)
      throw new BridgeError(
        'settings_drifted',
        `Thread ${threadId} came back with other settings (${drift.map(({ field }) => field).join(', ')}).`,
        { details: { differences: drift } },
      )
    checkApprovals(resumed)
    return await deliverTurn(ctx, threadId, prompt)
  } finally {
    await unsubscribe(ctx, threadId)
  }
}

/** Sends the follow-up; that the thread has moved stays true when it is refused. @throws TransportError when its outcome is not known */
export const followUp = async (
  ctx: HandoffContext,
  threadId: string,
  prompt: string,
): Promise<ReceiptPatch> => {
  try {
    return await send(ctx, threadId, prompt)
  } catch (error) {
    if (!BridgeError.is(error) || TransportError.is(error)) throw error
    return { warning: `The thread has moved, but the follow-up was not sent: ${error.message}` }
  }
}
