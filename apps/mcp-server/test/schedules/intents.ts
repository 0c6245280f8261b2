import { isDeepStrictEqual } from 'node:util'
import type { Receipt } from '@codex-thread-bridge/core/ledger'
import type { Answer } from './bridges.ts'

/** One way a request id was used. Its text is in no other one. */
export interface Variant {
  readonly args: Readonly<Record<string, unknown>>
  /** What the user message says, where there is one. */
  readonly text: string | undefined
  /** Every answer so far said that the id belongs to other arguments. */
  onlyConflicts: boolean
}

/** One request id and what is known of it. */
export interface Intent {
  readonly requestId: string
  readonly tool: 'create_thread' | 'send_message_to_thread'
  readonly threadId: string | undefined
  readonly variants: Variant[]
  /** How often the App Server had been killed when it was first called. */
  readonly killsBefore: number
  /** The one that a receipt answered. */
  winner: Variant | undefined
  /** The newest receipt of which no call was running any more. */
  settled: Receipt | undefined
  /** How often its marker had been sent by the time it was settled. */
  sendsWhenSettled: number | undefined
}

/** Nothing the App Server or the caller did wrong explains these. */
const NEVER = /^(internal|ledger_|invalid_|host_|schema_|undeclared)/

const isOver = ({ status, execution }: Receipt): boolean =>
  status !== 'in_progress_or_unknown' && execution !== 'running'

/** A message that a killed App Server may lose: not durable yet, or on its way from the queue to a turn. */
const losable = ({ delivery, turnId }: Receipt): boolean =>
  delivery?.state === 'acknowledged' || (delivery?.as === 'queue' && turnId === undefined)

/** What was certain stays certain. */
const changeFault = (before: Receipt, after: Receipt): string | undefined => {
  if (before.status === 'accepted' && after.status !== 'accepted')
    return losable(before) && /^not_(delivered|completed)$/.test(after.error?.code ?? '')
      ? undefined
      : `accepted became ${after.status}`
  if (before.status === 'failed' && after.status !== 'failed') return `failed became ${after.status}`
  if (before.status === 'outcome_unknown' && !isOver(after)) return 'an unknown outcome runs again'
  if (before.threadId !== undefined && before.threadId !== after.threadId)
    return `thread ${before.threadId} became ${after.threadId}`
  if (before.delivery?.state !== 'recorded') return undefined
  if (before.turnId !== undefined && before.turnId !== after.turnId)
    return `turn ${before.turnId} became ${after.turnId}`
  return after.delivery?.state === 'recorded' ? undefined : 'a recorded delivery was taken back'
}

/** What is wrong with an error answer. */
const errorFault = (
  intent: Intent,
  variant: Variant,
  before: Receipt | undefined,
  { code, next, message }: Answer & { kind: 'error' },
): string | undefined => {
  if (NEVER.test(code)) return `error ${code}: ${message}`
  if (code === 'request_conflict') {
    if (intent.variants.length === 1) return 'a conflict without other arguments'
    return before !== undefined && variant === intent.winner ? 'a conflict with its own arguments' : undefined
  }
  if (before !== undefined) return `error ${code} although there is a receipt: ${message}`
  return next === 'same_request_id' || code === 'unknown_request' ? undefined : `error ${code}, next ${next}`
}

/** What is wrong with an answer to these arguments, given what was certain when the call began. */
export const callFault = (
  intent: Intent,
  variant: Variant,
  before: Receipt | undefined,
  answer: Answer,
): string | undefined => {
  if (answer.kind !== 'error' || answer.code !== 'request_conflict') variant.onlyConflicts = false
  if (answer.kind === 'gone') return undefined
  if (answer.kind === 'error') return errorFault(intent, variant, before, answer)
  if (before !== undefined && intent.winner !== undefined && variant !== intent.winner)
    return 'other arguments got the receipt'
  if (before !== undefined && answer.receipt.replayed !== true) return 'it was not replayed'
  if (isOver(answer.receipt)) intent.winner ??= variant
  return receiptFault(intent, before, answer.receipt)
}

/** What is wrong with an answer of get_operation. */
export const lookFault = (
  intent: Intent,
  before: Receipt | undefined,
  answer: Answer,
): string | undefined => {
  if (answer.kind === 'gone') return undefined
  if (answer.kind === 'receipt') return receiptFault(intent, before, answer.receipt)
  if (answer.code === 'unknown_request' && before === undefined) return undefined
  return `error ${answer.code}: ${answer.message}`
}

const receiptFault = (intent: Intent, before: Receipt | undefined, receipt: Receipt): string | undefined => {
  if (receipt.requestId !== intent.requestId) return `the receipt is of ${receipt.requestId}`
  if (receipt.receiptPersisted === false) return 'the receipt was not kept'
  return before && changeFault(before, receipt)
}

/** Keeps what an answer made certain, once nothing runs any more. */
export const settle = (intent: Intent, answer: Answer, sends: number): void => {
  if (answer.kind !== 'receipt' || !isOver(answer.receipt)) return
  const { replayed: _replayed, ...receipt } = answer.receipt
  if (intent.settled !== undefined && isDeepStrictEqual(intent.settled, receipt)) return
  if (intent.settled !== undefined && intent.settled.updatedAt > receipt.updatedAt) return
  intent.settled = { ...receipt }
  intent.sendsWhenSettled = sends
}
