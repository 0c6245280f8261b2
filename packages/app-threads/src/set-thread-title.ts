import { defineMutation, given } from '@codex-thread-bridge/core/contract'
import type { OperationsPort } from '@codex-thread-bridge/core/host'
import { canonicalThreadId } from '@codex-thread-bridge/core/protocol'
import { ofKnownThread } from '@codex-thread-bridge/core/threads'
import { Type } from 'typebox'
import { answerOf, mutationOutput } from './answer.ts'
import { threadOrCaller } from './calling-thread.ts'
import { refusePending } from './client-thread.ts'
import { inputs } from './input.ts'
import { reconcileState } from './reconcile-state.ts'
import { examples } from './set-thread-title.examples.ts'

/** set_thread_title (contract: app-threads). */
export const setThreadTitle = (operations: OperationsPort) =>
  defineMutation({
    name: 'set_thread_title',
    title: 'Set the title of a Codex thread',
    description:
      'Gives a thread a new title, exactly as given; without threadId the calling thread. Nothing else changes and no turn starts. An archived thread must be unarchived first.',
    input: Type.Object(
      { threadId: Type.Optional(inputs.threadId), title: inputs.title },
      { additionalProperties: false },
    ),
    output: mutationOutput({ title: Type.Optional(Type.String()) }),
    uses: ['thread/name/set'],
    examples,
    opening: ({ threadId, title }) => ({
      title,
      ...given({ threadId: threadId && canonicalThreadId(threadId) }),
    }),

    async run(ctx, { threadId: named, title }) {
      const threadId = threadOrCaller(named, ctx.caller)
      await refusePending(operations, threadId)
      await ctx.receipt.checkpoint({ threadId: canonicalThreadId(threadId) })
      await ofKnownThread(threadId, ctx.call('thread/name/set', { threadId, name: title }), 'threadId')
      return {}
    },

    reconcile: (ctx, receipt) => reconcileState(ctx, receipt, ({ name }) => name === receipt.title),
    answer: (receipt) => ({ ...answerOf(receipt), ...given({ title: receipt.title }) }),
  })
