import type { Database, Statement } from 'better-sqlite3'
import { STARTED_AT, statusOf, THREAD_ID } from './migrations.ts'

const STATUS = statusOf('receipt')

export const GET = 'SELECT fingerprint, receipt FROM operations WHERE request_id = ?'
export const CLAIM = 'INSERT OR IGNORE INTO operations (request_id, fingerprint, receipt) VALUES (?, ?, ?)'
export const SAVE = 'UPDATE operations SET receipt = ? WHERE request_id = ?'
export const DROP = 'DELETE FROM operations WHERE request_id = ?'

const ENTRY = `SELECT request_id AS requestId, ${STARTED_AT} AS startedAt, receipt FROM operations`
// The comparison of pairs alone does not start the search in an index of expressions: `<=` does.
const NEWEST_FIRST = `AND ${STARTED_AT} <= @startedAt AND (${STARTED_AT}, request_id) < (@startedAt, @requestId)
  ORDER BY ${STARTED_AT} DESC, request_id DESC LIMIT @limit`
export const LIST_BY_STATUS = `${ENTRY} WHERE ${STATUS} = @status ${NEWEST_FIRST}`
export const LIST_BY_THREAD = `${ENTRY} WHERE ${THREAD_ID} = @threadId AND ${STATUS} = @status ${NEWEST_FIRST}`
/** Upwards; see NEWEST_FIRST. */
export const LIST_OLDEST = `${ENTRY} WHERE ${STATUS} = @status AND ${STARTED_AT} >= @startedAt
  AND (${STARTED_AT}, request_id) > (@startedAt, @requestId)
  ORDER BY ${STARTED_AT}, request_id LIMIT @limit`
/** A number of a JSON text as SQLite reads it, which may differ in the last bit from JavaScript's. */
export const NUMBER_OF = `SELECT json_extract(?, '$')`
export const COUNT = 'SELECT n FROM operation_counts WHERE name = ?'

export const ENQUEUE = 'INSERT OR IGNORE INTO thread_claims (thread_id, request_id, owner) VALUES (?, ?, ?)'
export const LINE =
  'SELECT request_id AS requestId, owner FROM thread_claims WHERE thread_id = ? ORDER BY ticket'
export const DEQUEUE = 'DELETE FROM thread_claims WHERE thread_id = ? AND request_id = ?'
export const FORGET_OWNER = 'DELETE FROM thread_claims WHERE thread_id = ? AND owner = ?'

/** A receipt with its place in the order of lists. */
export interface ListedRow {
  readonly requestId: string
  readonly startedAt: number
  readonly receipt: unknown
}

/** Every statement, prepared once. */
export interface Statements {
  readonly get: Statement<[requestId: string], { fingerprint: string; receipt: unknown }>
  readonly claim: Statement<[requestId: string, fingerprint: string, receipt: string]>
  readonly save: Statement<[receipt: string, requestId: string]>
  readonly drop: Statement<[requestId: string]>
  readonly listByStatus: Statement<[range: Range], ListedRow>
  readonly listByThread: Statement<[range: Range & { threadId: string }], ListedRow>
  readonly listOldest: Statement<[range: Range], ListedRow>
  readonly numberOf: Statement<[json: string], number>
  readonly count: Statement<[name: string], number>
  readonly enqueue: Statement<[threadId: string, requestId: string, owner: string]>
  readonly line: Statement<[threadId: string], { requestId: string; owner: string }>
  readonly dequeue: Statement<[threadId: string, requestId: string]>
  readonly forgetOwner: Statement<[threadId: string, owner: string]>
}

/** The rows of one stored status that come after a place. */
interface Range {
  readonly status: string
  readonly startedAt: number
  readonly requestId: string
  readonly limit: number
}

export const prepareStatements = (db: Database): Statements => ({
  get: db.prepare(GET),
  claim: db.prepare(CLAIM),
  save: db.prepare(SAVE),
  drop: db.prepare(DROP),
  listByStatus: db.prepare(LIST_BY_STATUS),
  listByThread: db.prepare(LIST_BY_THREAD),
  listOldest: db.prepare(LIST_OLDEST),
  numberOf: db.prepare<[string], number>(NUMBER_OF).pluck(),
  count: db.prepare<[string], number>(COUNT).pluck(),
  enqueue: db.prepare(ENQUEUE),
  line: db.prepare(LINE),
  dequeue: db.prepare(DEQUEUE),
  forgetOwner: db.prepare(FORGET_OWNER),
})
