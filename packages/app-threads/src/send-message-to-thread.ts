import { defineMutation, given, type Caller } from '@codex-thread-bridge/core/contract'
import type { OperationsPort } from '@codex-thread-bridge/core/host'
import { canonicalThreadId } from '@codex-thread-bridge/core/protocol'
import { ofKnownThread, reconcileMessage, sendMessage, sendMethods } from '@codex-thread-bridge/core/threads'
import { Type } from 'typebox'
import { answerOf, mutationOutput } from './answer.ts'
import { refusePending } from './client-thread.ts'
import { inputs } from './input.ts'
import { checkModel } from './models.ts'
import { examples } from './send-message-to-thread.examples.ts'

/** The prompt as it is sent: with a line before it that names the sender, where the operator wants that. */
const withProvenance = (prompt: string, caller: Caller, provenance: boolean): string =>
  provenance && caller.threadId !== undefined ? `[from thread ${caller.threadId}]\n\n${prompt}` : prompt

/** send_message_to_thread (contract: app-threads). */
export const sendMessageToThread = (operations: OperationsPort, provenance: boolean) =>
  defineMutation({
    name: 'send_message_to_thread',
    title: 'Send a message to a Codex thread',
    description:
      'Sends a prompt, exactly as given, into another Codex thread: a new turn when it is idle, else into its running turn (delivery.as "steer"). The answer tells the turn and whether the message was recorded there; it does not wait for the result, which wait_threads and read_thread give. Without model and thinking the thread’s settings stay; with them they hold from this turn on, but not when a running turn is steered. Nothing is sent to an archived thread, to the calling thread, or to one that came back with other settings than it was last known to have. status "outcome_unknown": call get_operation with requestId and reconcile: true before anything else.',
    input: Type.Object(
      {
        threadId: inputs.threadId,
        prompt: inputs.prompt,
        hostId: Type.Optional(inputs.hostId),
        model: Type.Optional(inputs.model),
        thinking: Type.Optional(inputs.thinking),
      },
      { additionalProperties: false },
    ),
    output: mutationOutput({}),
    uses: ['model/list', ...sendMethods],
    examples,
    thread: ({ threadId }) => threadId,
    opening: ({ threadId }) => ({ threadId: canonicalThreadId(threadId) }),

    async run(ctx, { threadId, prompt, model, thinking }) {
      await refusePending(operations, threadId)
      await checkModel(ctx, model, thinking)
      const text = withProvenance(prompt, ctx.caller, provenance)
      const settings = given({ model, effort: thinking })
      const sent = sendMessage(ctx, { threadId, text, ifBusy: 'steer', onDrift: 'refuse', settings })
      return ofKnownThread(threadId, sent, 'threadId')
    },

    reconcile: (ctx, receipt) => reconcileMessage(ctx, receipt, receipt.threadId ?? ''),
    answer: answerOf,
  })
