import { given } from '@codex-thread-bridge/core/contract'
import { receiptFields, type Receipt } from '@codex-thread-bridge/core/ledger'
import { Type, type TSchema } from 'typebox'
import { HOST } from './input.ts'

const { requestId, status, execution, next, threadId, turnId, delivery, replayed, receiptPersisted } =
  receiptFields

/**
 * What a mutation of this family answers: Desktop's own members and what of the receipt decides the next step. The
 * whole receipt is at get_operation.
 */
export const mutationOutput = <const P extends Record<string, TSchema>>(own: P) =>
  Type.Object({
    requestId,
    hostId: Type.String(),
    threadId,
    turnId,
    delivery,
    status,
    execution,
    next,
    replayed,
    receiptPersisted,
    error: Type.Optional(
      Type.Object({ code: Type.String(), message: Type.String(), hint: Type.Optional(Type.String()) }),
    ),
    ...own,
  })

/** What to do, where the general advice names arguments of another family. */
const familyHints: Readonly<Record<string, string>> = {
  thread_archived: 'Unarchive it first: set_thread_archived with archived: false.',
  thread_busy: 'Wait for its turn with wait_threads, then call again.',
  settings_drifted:
    'Nothing was sent. get_operation with this requestId shows the differences; the thread must be corrected in Codex.',
  not_delivered: 'Send it again.',
  unknown_project: 'Use a projectId of list_projects.',
}

const errorOf = ({ error }: Receipt) => {
  if (error === undefined) return undefined
  const details: Readonly<Record<string, unknown>> = { ...error.details }
  const hint = familyHints[error.code] ?? details.hint
  return {
    code: error.code,
    message: error.message,
    ...(typeof hint === 'string' ? { hint } : {}),
  }
}

/** The members that every answer has, from its receipt. */
export const answerOf = (receipt: Receipt) => ({
  requestId: receipt.requestId,
  hostId: HOST,
  status: receipt.status,
  next: receipt.next,
  ...given({
    threadId: receipt.threadId,
    turnId: receipt.turnId,
    delivery: receipt.delivery,
    execution: receipt.execution,
    replayed: receipt.replayed,
    receiptPersisted: receipt.receiptPersisted,
    error: errorOf(receipt),
  }),
})
