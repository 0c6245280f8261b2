import { BridgeError, defineRead, type ReadContext } from '@codex-thread-bridge/core/contract'
import type { OperationsPort } from '@codex-thread-bridge/core/host'
import type { Receipt } from '@codex-thread-bridge/core/ledger'
import { Type } from 'typebox'
import { examples } from './get-handoff-status.examples.ts'
import { HANDOFF } from './handoff/journal.ts'
import { handoffStatus, HandoffStatus, revisionOf } from './handoff/status.ts'

const WAIT_MS_MAX = 60_000
const LOOK_MS = 100

/** The receipt of a handoff, found out about when its bridge is gone. @throws BridgeError unknown_request */
const receiptOf = async (
  ctx: ReadContext<never>,
  operations: OperationsPort,
  operationId: string,
): Promise<Receipt> => {
  const receipt = await operations.get(operationId)
  if (receipt.operation !== HANDOFF)
    throw new BridgeError('unknown_request', `${operationId} is no handoff.`, { field: 'operationId' })
  return receipt.status === 'outcome_unknown'
    ? operations.reconcile(operationId, { signal: ctx.signal })
    : receipt
}

/** get_handoff_status (contract: app-threads). */
export const getHandoffStatus = (operations: OperationsPort) =>
  defineRead({
    name: 'get_handoff_status',
    title: 'Get the status of a handoff',
    description:
      'Says how far a handoff is, by the operationId of handoff_thread: status running, success, warning (the thread has moved, something is left to do) or error, its steps, and in workIn which side has the thread and the whole work. threadId is the thread to go on with. With waitMs it waits until the revision is higher than afterRevision, no longer than the bridge’s call budget (some 50 s). After an error or a warning message says what to do.',
    input: Type.Object(
      {
        operationId: Type.String({
          minLength: 1,
          maxLength: 128,
          description: 'operationId of handoff_thread (1 to 128 characters)',
        }),
        afterRevision: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: 'With waitMs: wait for a higher revision than this (0 or more)',
          }),
        ),
        waitMs: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: WAIT_MS_MAX,
            description: 'How long to wait for news (0 to 60,000 milliseconds, default 0)',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    output: HandoffStatus,
    uses: [],
    examples,

    async run(ctx, { operationId, afterRevision = 0, waitMs = 0 }) {
      const until = Math.min(ctx.clock.now() + waitMs, ctx.deadline)
      for (;;) {
        const receipt = await receiptOf(ctx, operations, operationId)
        const over = receipt.execution !== 'running' || revisionOf(receipt) > afterRevision
        const left = until - ctx.clock.now()
        if (over || left <= 0) return handoffStatus(receipt)
        await ctx.clock.sleep(Math.min(LOOK_MS, left), ctx.signal)
      }
    },
  })
