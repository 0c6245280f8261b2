import type { Database } from 'better-sqlite3'
import { Value } from 'typebox/value'
import { BridgeError } from '../contract/errors.ts'
import { afterDeath } from './after-death.ts'
import { backupDatabase, type Backup } from './backup.ts'
import { asLedgerErrors } from './ledger-error.ts'
import { countLeftOpen, listReceipts, oldestRows } from './listing.ts'
import type { Liveness } from './owner.ts'
import { parseReceipt } from './parse-receipt.ts'
import type { LedgerPort, LedgerRow, ReceiptQuery } from './port.ts'
import { readAs } from './read-as.ts'
import { Owner, type Receipt } from './receipt.ts'
import { prepareStatements, type ListedRow, type Statements } from './statements.ts'

const PAGE = 128

/** A receipt as read, or nothing where the stored text is none. */
export interface Entry {
  readonly requestId: string
  readonly receipt: Receipt | undefined
}

/** The ledger on disk: the port, and what a person does with the file. */
export interface SqliteLedger extends LedgerPort {
  readonly path: string
  /** Oldest first, one page in memory at a time; no lock is held between pages. Rows that are claimed meanwhile come too. */
  all(): Iterable<Entry>
  /**
   * Writes a verified copy of all that is committed to a file that does not exist, mode 0600. Others may go on writing;
   * this thread is busy until it is done.
   * @throws BridgeError backup_failed, and ledger_* of this ledger; there is no file then
   */
  backup(file: string): Promise<Backup>
}

export interface SqliteLedgerParts {
  readonly path: string
  readonly endpoint: string
  /** Who stands in line for threads. */
  readonly owner: Owner
  readonly isAlive: Liveness
}

/** The port over an open database in the current schema. */
export const sqliteLedger = (db: Database, parts: SqliteLedgerParts): SqliteLedger => {
  const { path, endpoint, isAlive } = parts
  const sql = asLedgerErrors(path, () => prepareStatements(db))
  const threads = threadLine(db, sql, parts)
  const reading = afterDeath(isAlive)
  const read = (requestId: string): LedgerRow | undefined =>
    reading((alive) => {
      const row = sql.get.get(requestId)
      return row && { ...row, receipt: readAs(parseReceipt(requestId, row.receipt), alive) }
    })
  const insert = db.transaction((row: LedgerRow) => {
    const { requestId } = row.receipt
    const won = sql.claim.run(requestId, row.fingerprint, JSON.stringify(row.receipt)).changes === 1
    return { won, row: (won ? undefined : read(requestId)) ?? row }
  })
  const list = db.transaction((query: ReceiptQuery, alive: Liveness) => listReceipts(sql, query, alive))
  const counts = db.transaction((alive: Liveness) => ({
    operations: sql.count.get('operations') ?? 0,
    uncertain: (sql.count.get('uncertain') ?? 0) + countLeftOpen(sql, alive),
  }))
  const entryOf = ({ requestId, receipt }: ListedRow, alive: Liveness): Entry => {
    try {
      return { requestId, receipt: readAs(parseReceipt(requestId, receipt), alive) }
    } catch {
      return { requestId, receipt: undefined }
    }
  }
  const page = db.transaction((after: ListedRow | undefined, alive: Liveness) => {
    const rows = oldestRows(sql, PAGE, after)
    return { last: rows.at(-1), entries: rows.map((row) => entryOf(row, alive)) }
  })
  const safely = <T>(act: () => T): T => asLedgerErrors(path, act)
  const inLine = (act: () => void): void => safely(() => withoutSync(db, act))

  return {
    endpoint,
    path,
    claim: (row) =>
      safely(() => {
        // A replay only reads: it works while the file is locked, full or read-only.
        const standing = read(row.receipt.requestId)
        return standing ? { won: false, row: standing } : insert.immediate(row)
      }),
    get: (requestId) => safely(() => read(requestId)),
    save: (receipt) =>
      safely(() => {
        if (sql.save.run(JSON.stringify(receipt), receipt.requestId).changes === 1) return
        throw new BridgeError('ledger_unavailable', `${path} has no row of ${receipt.requestId} any more.`)
      }),
    drop: (requestId) => safely(() => void sql.drop.run(requestId)),
    list: (query) => safely(() => reading((alive) => list(query, alive))),
    counts: () => safely(() => reading(counts)),
    enqueue: (threadId, requestId) => inLine(() => threads.enqueue.immediate(threadId, requestId)),
    holder: (threadId) => safely(() => threads.holder(threadId)),
    dequeue: (threadId, requestId) => inLine(() => void sql.dequeue.run(threadId, requestId)),
    *all() {
      let after: ListedRow | undefined
      do {
        const { last, entries } = safely(() => reading((alive) => page(after, alive)))
        yield* entries
        after = last
      } while (after !== undefined)
    },
    backup: (file) => backupDatabase(path, Number(db.pragma('busy_timeout', { simple: true })), file),
    close: () => safely(() => void db.close()),
  }
}

/**
 * A place in a line is worth nothing once its process is gone, so it need not outlive a loss of power: its commit does
 * not wait for the disk. Only a write-ahead log stays whole without that.
 */
const withoutSync = (db: Database, act: () => void): void => {
  if (db.pragma('journal_mode', { simple: true }) !== 'wal') return act()
  const before = Number(db.pragma('synchronous', { simple: true }))
  db.pragma('synchronous = NORMAL')
  try {
    act()
  } finally {
    db.pragma(`synchronous = ${before}`)
  }
}

const threadLine = (db: Database, sql: Statements, { owner, isAlive }: SqliteLedgerParts) => {
  const self = JSON.stringify({ pid: owner.pid, startTime: owner.startTime, bootId: owner.bootId })
  const lives = (text: string): boolean => {
    const parsed: unknown = JSON.parse(text)
    return Value.Check(Owner, parsed) && isAlive(parsed)
  }
  /** By owner, not by ticket: the ticket of a row that is gone may be another's by now. */
  const holder = (threadId: string): string | undefined => {
    for (const claim of sql.line.all(threadId)) {
      if (lives(claim.owner)) return claim.requestId
      sql.forgetOwner.run(threadId, claim.owner)
    }
    return undefined
  }
  const enqueue = db.transaction((threadId: string, requestId: string): void => {
    for (const claim of sql.line.all(threadId)) {
      // Left by a process that died: its place in the line died with it.
      if (claim.requestId === requestId && !lives(claim.owner)) sql.dequeue.run(threadId, requestId)
    }
    sql.enqueue.run(threadId, requestId, self)
  })
  return { holder, enqueue }
}
