import { BridgeError, defineMutation, type ReadContext } from '@codex-thread-bridge/core/contract'
import type { OperationsPort } from '@codex-thread-bridge/core/host'
import { canonicalThreadId } from '@codex-thread-bridge/core/protocol'
import { allRows, ofKnownThread, threadOf } from '@codex-thread-bridge/core/threads'
import { Type } from 'typebox'
import { answerOf, mutationOutput } from './answer.ts'
import { isArchived } from './archived.ts'
import { refusePending } from './client-thread.ts'
import { inputs } from './input.ts'
import { textsOf } from './item-fields.ts'
import { reconcileState } from './reconcile-state.ts'
import { examples } from './set-thread-archived.examples.ts'

/** The threads that agents of this one began for themselves: they are archived with it. */
const descendantsOf = async (ctx: Pick<ReadContext<'thread/list'>, 'call'>, threadId: string) =>
  (
    await allRows((page) =>
      ctx.call('thread/list', { ...page, ancestorThreadId: threadId, useStateDbOnly: true }),
    )
  ).map(({ id }) => id)

/** set_thread_archived (contract: app-threads). */
export const setThreadArchived = (operations: OperationsPort) =>
  defineMutation({
    name: 'set_thread_archived',
    title: 'Archive or unarchive a Codex thread',
    description:
      'Archives a thread, or brings an archived one back. Archiving a thread with a running turn is refused, since it would interrupt the turn, and so is archiving the calling thread. A thread that is already as asked is a success. Archiving takes along the threads that its agents began for themselves (descendants); unarchiving brings back the one thread alone.',
    input: Type.Object(
      {
        threadId: inputs.threadId,
        hostId: Type.Optional(inputs.hostId),
        archived: Type.Boolean({ description: 'true: archive it; false: bring it back' }),
      },
      { additionalProperties: false },
    ),
    output: mutationOutput({
      archived: Type.Optional(Type.Boolean()),
      descendants: Type.Optional(Type.Array(Type.String())),
    }),
    uses: ['thread/read', 'thread/list', 'thread/archive', 'thread/unarchive'],
    examples,
    thread: ({ threadId }) => threadId,
    opening: ({ threadId, archived }) => ({ threadId: canonicalThreadId(threadId), archived }),

    async run(ctx, { threadId, archived }) {
      await refusePending(operations, threadId)
      const thread = await ofKnownThread(threadId, threadOf(ctx, threadId), 'threadId')
      if (isArchived(thread) === archived) return {}
      if (!archived) {
        await ctx.call('thread/unarchive', { threadId })
        return {}
      }
      if (thread.status.type === 'active')
        throw new BridgeError(
          'thread_busy',
          `Thread ${threadId} has a running turn, which archiving would interrupt; nothing was done.`,
        )
      const descendants = await descendantsOf(ctx, threadId)
      await ctx.call('thread/archive', { threadId })
      return descendants.length === 0 ? {} : { descendants }
    },

    reconcile: (ctx, receipt) =>
      reconcileState(ctx, receipt, (thread) => isArchived(thread) === receipt.archived),
    answer: (receipt) => ({
      ...answerOf(receipt),
      ...(typeof receipt.archived === 'boolean' ? { archived: receipt.archived } : {}),
      ...(receipt.descendants === undefined ? {} : { descendants: [...textsOf(receipt.descendants)] }),
    }),
  })
