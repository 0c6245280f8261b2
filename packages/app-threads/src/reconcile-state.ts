import { AppServerError, type ReconcileContext, type Verdict } from '@codex-thread-bridge/core/contract'
import type { Receipt } from '@codex-thread-bridge/core/ledger'
import type { Thread } from '@codex-thread-bridge/core/protocol'

/** What a receipt proves by itself: nothing was asked of the App Server; a worktree that was made is kept. */
export const notStarted = (receipt: Receipt, method: string): Verdict | undefined =>
  receipt.steps.some(({ name }) => name === method)
    ? undefined
    : {
        verdict: 'not_started',
        looked: { note: `${method} was never sent; a worktree that was made is kept` },
      }

/** Whether a thread is as a lost call was to make it. What is not so yet may still come: calling again is harmless. */
export const reconcileState = async (
  ctx: ReconcileContext,
  receipt: Receipt,
  isSo: (thread: Thread) => boolean,
): Promise<Verdict> => {
  const { threadId } = receipt
  if (threadId === undefined) return { verdict: 'unknowable', looked: { note: 'the thread is not known' } }
  try {
    const { thread } = await ctx.call('thread/read', { threadId })
    return isSo(thread)
      ? { verdict: 'delivered', looked: { calls: 1, note: 'the thread is as asked' } }
      : {
          verdict: 'not_found',
          looked: { calls: 1, note: 'the thread is not as asked; the call can be repeated' },
        }
  } catch (error) {
    if (!AppServerError.is(error)) throw error
    return {
      verdict: 'not_found',
      looked: { calls: 1, note: `the thread cannot be read: ${error.rpc.message}` },
    }
  }
}
