import { defineMutation } from '@codex-thread-bridge/core/contract'
import { receiptOutput } from '@codex-thread-bridge/core/ledger'
import {
  deliverQueued,
  fields,
  ifBusy,
  onDrift,
  reconcileMessage,
  sendMessage,
  sendMethods,
} from '@codex-thread-bridge/core/threads'
import { EnvironmentRecord } from '@codex-thread-bridge/core/policy'
import { canonicalThreadId } from '@codex-thread-bridge/core/protocol'
import { Type } from 'typebox'
import { examples } from './send-message-to-thread.examples.ts'

const Input = Type.Object(
  {
    request_id: fields.requestId,
    thread_id: fields.threadId,
    message: fields.message,
    if_busy: Type.Optional(
      Type.Enum([...ifBusy], {
        type: 'string',
        description:
          'When the thread has a running turn or queued messages: refuse (default) sends nothing, steer puts the message into the running turn, queue starts it as a turn of its own afterwards',
      }),
    ),
    on_settings_drift: Type.Optional(
      Type.Enum([...onDrift], {
        type: 'string',
        description:
          'When the thread came back with other settings than it was last known to have: refuse (default) sends nothing, restore sends the message together with the recorded settings, never wider ones',
      }),
    ),
  },
  { additionalProperties: false },
)

/** send_message_to_thread (contract: bridge-tools, threads). */
export const sendMessageToThread = defineMutation({
  name: 'send_message_to_thread',
  title: 'Send a message to a Codex thread',
  description:
    'Sends one message, exactly as given, into an existing Codex thread and reports whether it was recorded there. The thread is resumed without any override; nothing is sent when its settings differ from those that it was last known to have, when its approvals would need a person, or, by default, when it is busy. Never interrupts and sets no goal. Use one request_id per intended message and repeat the same one after an uncertain answer: it never sends twice. accepted means dispatched, not completed: wait_thread with the answer’s turnId gives the result. Status outcome_unknown: call get_operation with reconcile true before anything else.',
  input: Input,
  output: receiptOutput({
    itemId: Type.Optional(Type.String()),
    environmentEvidence: Type.Optional(
      Type.Enum(['receipt', 'turn_context', 'settings', 'none'], { type: 'string' }),
    ),
    recorded: Type.Optional(EnvironmentRecord),
    effective: Type.Optional(Type.Object({})),
  }),
  uses: [...sendMethods, 'thread/queue/add'],
  examples,
  thread: (input) => input.thread_id,
  // By its one spelling: receipts of a thread are found whatever way its id was written.
  opening: (input) => ({ threadId: canonicalThreadId(input.thread_id) }),
  run: (ctx, input) =>
    sendMessage(ctx, {
      threadId: input.thread_id,
      text: input.message,
      ifBusy:
        input.if_busy === 'queue'
          ? () => deliverQueued(ctx, input.thread_id, input.message)
          : (input.if_busy ?? 'refuse'),
      onDrift: input.on_settings_drift ?? 'refuse',
    }),
  reconcile: (ctx, receipt) => reconcileMessage(ctx, receipt, receipt.threadId ?? ''),
})
