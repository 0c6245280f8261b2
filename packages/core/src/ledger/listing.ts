import { compareCodePoints } from './code-points.ts'
import type { Liveness } from './owner.ts'
import { parseReceipt } from './parse-receipt.ts'
import type { ReceiptPage, ReceiptQuery } from './port.ts'
import { readAs } from './read-as.ts'
import { statuses, type Receipt } from './receipt.ts'
import type { ListedRow, Statements } from './statements.ts'

interface Place {
  readonly startedAt: number
  readonly requestId: string
}

const OPEN = 'in_progress_or_unknown'
const NEWEST: Place = { startedAt: Infinity, requestId: '' }
const OLDEST: Place = { startedAt: -Infinity, requestId: '' }
const CHUNK = 32

/** Newest first: by startedAt, then by requestId, both descending. */
export const compareNewestFirst = (a: Place, b: Place): number =>
  b.startedAt - a.startedAt || compareCodePoints(b.requestId, a.requestId)

/**
 * A page of receipts as read. A filter on status also goes through the open rows, since one that was left open reads
 * as another status; each stored status is one range of an index, and the ranges are merged.
 */
export const listReceipts = (sql: Statements, query: ReceiptQuery, alive: Liveness): ReceiptPage => {
  const after = query.after ? asStored(sql, query.after) : NEWEST
  const stored = query.status === undefined ? [...statuses, 'unreadable'] : [...new Set([query.status, OPEN])]
  const receipts: Receipt[] = []
  for (const row of merge(stored.map((status) => range(sql, status, query.threadId, after)))) {
    const receipt = readAs(parseReceipt(row.requestId, row.receipt), alive)
    if (query.status !== undefined && receipt.status !== query.status) continue
    if (receipts.length === query.limit) return { receipts, more: true }
    receipts.push(receipt)
  }
  return { receipts, more: false }
}

/** The next rows in the opposite order, behind `after` (none: from the oldest on). One read, whatever is written since. */
export const oldestRows = (sql: Statements, limit: number, after: Place = OLDEST): readonly ListedRow[] =>
  [...statuses, 'unreadable']
    .flatMap((status) =>
      sql.listOldest.all({ status, startedAt: after.startedAt, requestId: after.requestId, limit }),
    )
    .sort((a, b) => compareNewestFirst(b, a))
    .slice(0, limit)

/** How many open rows read as `outcome_unknown`. */
export const countLeftOpen = (sql: Statements, alive: Liveness): number => {
  let left = 0
  for (const row of range(sql, OPEN, undefined, NEWEST)) {
    if (readAs(parseReceipt(row.requestId, row.receipt), alive).status === 'outcome_unknown') left++
  }
  return left
}

const asStored = (sql: Statements, place: Place): Place => ({
  startedAt: sql.numberOf.get(JSON.stringify(place.startedAt)) ?? 0,
  requestId: place.requestId,
})

/** The rows of one stored status behind `from`, read as far as they are asked for. */
function* range(sql: Statements, status: string, threadId: string | undefined, from: Place) {
  let { startedAt, requestId } = from
  for (;;) {
    const place = { status, startedAt, requestId, limit: CHUNK }
    const rows =
      threadId === undefined ? sql.listByStatus.all(place) : sql.listByThread.all({ ...place, threadId })
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < CHUNK) return
    startedAt = last.startedAt
    requestId = last.requestId
  }
}

/** The rows of all ranges in the order of lists. */
function* merge(ranges: readonly Iterator<ListedRow, void>[]) {
  const heads = ranges.flatMap(headOf)
  for (;;) {
    heads.sort((a, b) => compareNewestFirst(a.row, b.row))
    const first = heads.shift()
    if (first === undefined) return
    yield first.row
    heads.push(...headOf(first.rows))
  }
}

const headOf = (rows: Iterator<ListedRow, void>) => {
  const next = rows.next()
  return next.done === true ? [] : [{ row: next.value, rows }]
}
