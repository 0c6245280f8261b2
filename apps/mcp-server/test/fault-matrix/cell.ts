import type { Next } from '@codex-thread-bridge/core/contract'
import type { Destination } from './destination.ts'
import type { Fault } from './faults.ts'

/** What a caller is told: a receipt, or (`error`) a call that ended without one. */
export interface Told {
  readonly status: 'accepted' | 'failed' | 'outcome_unknown' | 'in_progress_or_unknown' | 'error'
  readonly next: Next
  readonly code: string | null
  readonly ids: readonly ('threadId' | 'turnId')[]
}

/** What a launch leaves beside thread and message. */
export interface Launched {
  readonly destination: Destination
  /** Of the receipt, in the end; null where there is none. */
  readonly phase: string | null
}

/** How one fault at one step ends. */
export interface Cell {
  /** The answer; after a cancellation or the death of the bridge, what `get_operation` reads next. */
  readonly told: Told
  /** Of reconciliation, with bridge and App Server running again; null: there was nothing to find out. */
  readonly verdict: string | null
  /** The receipt then; without one, what the repeated call gives. */
  readonly after: Told
  /** New threads with our marker. */
  readonly threads: number
  /** Messages with our text. */
  readonly messages: number
  readonly launch?: Launched
}

/** A cell for all tested App Servers, or one for those that record a steer only when the running model call ends. */
export type Expected = Cell | { readonly upTo154: Cell; readonly later: Cell }

/** Every fault has a cell: a row does not compile with an empty one. */
export type Row = Readonly<Record<Fault, Expected>>

/** A row whose cells hold for all tested App Servers. */
export type PlainRow = Readonly<Record<Fault, Cell>>

type Ids = Told['ids']
export const noIds: Ids = []
export const threadOnly: Ids = ['threadId']
export const both: Ids = ['threadId', 'turnId']

/** What is on the App Server in the end. */
export interface Effects {
  readonly threads: number
  readonly messages: number
}
export const effects = (threads: number, messages: number): Effects => ({ threads, messages })

type CellOf = (fault: Fault) => Cell

/** The same kind of cell under several faults. */
export const under = <const F extends Fault>(faults: readonly F[], cell: CellOf): Record<F, Cell> =>
  Object.fromEntries(faults.map((fault) => [fault, cell(fault)])) as Record<F, Cell>

/** Why a step has no answer, by what happened to it. */
const codeOf = (fault: Fault): string => {
  if (fault === 'answerLost' || fault === 'timeout') return 'request_timeout'
  if (fault === 'serverError') return 'app_server_error'
  if (fault === 'unreachable') return 'socket_absent'
  if (fault.startsWith('diskFull')) return 'ledger_full'
  return /^(bridge|both)/.test(fault) ? 'interrupted' : 'connection_lost'
}

const settled = (told: Told, done: Effects): Cell => ({ told, verdict: null, after: told, ...done })

const tellAccepted = (ids: Ids): Told => ({ status: 'accepted', next: 'none', code: null, ids })

/** It went on, or the step does not matter; a receipt may still learn the turn of a queued message. */
export const accepted =
  (ids: Ids, done: Effects, later = ids): CellOf =>
  () => ({ ...settled(tellAccepted(ids), done), after: tellAccepted(later) })

/** A known failure; `code` where it is not that of the fault itself. */
export const failed =
  (next: 'new_request_id' | 'inspect', ids: Ids, done: Effects, code?: string): CellOf =>
  (fault) =>
    settled({ status: 'failed', next, code: code ?? codeOf(fault), ids }, done)

/** No receipt; repeating the call does what was asked for. */
export const repeatable =
  (ids: Ids, done: Effects): CellOf =>
  (fault) => ({
    told: { status: 'error', next: 'same_request_id', code: codeOf(fault), ids: noIds },
    verdict: null,
    after: tellAccepted(ids),
    ...done,
  })

const uncertain =
  (verdict: string, ids: Ids, done: Effects, after?: Told): CellOf =>
  (fault) => {
    const told: Told = { status: 'outcome_unknown', next: 'reconcile', code: codeOf(fault), ids }
    return { told, verdict, after: after ?? told, ...done }
  }

/** Nobody knows at first; it is found. */
export const found = (verdict: 'created' | 'delivered', before: Ids, after: Ids, done: Effects): CellOf =>
  uncertain(verdict, before, done, tellAccepted(after))

const tellFailed = (code: string, ids = threadOnly): Told => ({
  status: 'failed',
  next: 'new_request_id',
  code,
  ids,
})

/** Nobody knows at first; the thread is found, without all that was to follow. */
export const incomplete = (before: Ids, done: Effects): CellOf =>
  uncertain('created_incomplete', before, done, tellFailed('not_completed'))

/** Nobody knows at first; it is proved that the message, or the thread, cannot arrive any more. */
export const notDelivered = (done: Effects, ids = threadOnly): CellOf =>
  uncertain('not_delivered', ids, done, tellFailed('not_delivered', ids))

/** Nobody knows, and it stays so: what was sent may still arrive. */
export const notFound = (ids: Ids, done: Effects): CellOf => uncertain('not_found', ids, done)
