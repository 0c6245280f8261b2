import { defineMutation } from '@codex-thread-bridge/core/contract'
import type { OperationsPort } from '@codex-thread-bridge/core/host'
import { canonicalThreadId } from '@codex-thread-bridge/core/protocol'
import { ofKnownThread, threadOf } from '@codex-thread-bridge/core/threads'
import { Type } from 'typebox'
import { answerOf, mutationOutput } from './answer.ts'
import { refusePending } from './client-thread.ts'
import { inputs } from './input.ts'
import { PINNED, pinnedSection } from './pinned.ts'
import { reconcileState } from './reconcile-state.ts'
import { examples } from './set-thread-pinned.examples.ts'

/** set_thread_pinned (contract: app-threads). */
export const setThreadPinned = (operations: OperationsPort) =>
  defineMutation({
    name: 'set_thread_pinned',
    title: 'Pin or unpin a Codex thread',
    description:
      'Moves a thread into the App Server’s Pinned section, behind those that are there, or out of it. A thread that is already as asked stays where it is, also one in another section that is to be unpinned. Pinned threads come first in list_threads.',
    input: Type.Object(
      { threadId: inputs.threadId, pinned: Type.Boolean({ description: 'true: pin it; false: unpin it' }) },
      { additionalProperties: false },
    ),
    output: mutationOutput({ pinned: Type.Optional(Type.Boolean()) }),
    uses: ['thread/read', 'threadSection/list', 'thread/section/move'],
    examples,
    opening: ({ threadId, pinned }) => ({ threadId: canonicalThreadId(threadId), pinned }),

    async run(ctx, { threadId, pinned }) {
      await refusePending(operations, threadId)
      const thread = await ofKnownThread(threadId, threadOf(ctx, threadId), 'threadId')
      const section = await pinnedSection(ctx)
      if ((thread.section?.id === section) !== pinned)
        await ctx.call('thread/section/move', { threadId, sectionId: pinned ? section : null })
      return {}
    },

    reconcile: (ctx, receipt) =>
      reconcileState(ctx, receipt, ({ section }) => (section?.name === PINNED) === receipt.pinned),
    answer: (receipt) => ({
      ...answerOf(receipt),
      ...(typeof receipt.pinned === 'boolean' ? { pinned: receipt.pinned } : {}),
    }),
  })
