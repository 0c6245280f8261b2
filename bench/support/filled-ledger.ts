import { randomUUID } from 'node:crypto'
import { openLedger, type LedgerPort } from '@codex-thread-bridge/core/ledger'
import Database from 'better-sqlite3'
import { oldReceipt } from './receipts.ts'

export interface FilledLedger {
  readonly port: LedgerPort
  /** Up to a thousand of its request ids, evenly spread. */
  readonly requestIds: readonly string[]
}

const FINGERPRINT = '0'.repeat(64)
const KEPT_IDS = 1_000

/** A ledger that already holds so many receipts, written past the port in one transaction. */
export const filledLedger = async (path: string, receipts: number): Promise<FilledLedger> => {
  const options = { path, endpoint: '/nowhere' }
  // The port makes the schema.
  const empty = await openLedger(options)
  empty.close()
  const requestIds = fill(path, receipts)
  return { port: await openLedger(options), requestIds }
}

const fill = (path: string, receipts: number): readonly string[] => {
  const db = new Database(path)
  db.pragma('journal_mode = OFF')
  db.pragma('synchronous = OFF')
  db.pragma('cache_size = -1000000')
  const insert = db.prepare('INSERT INTO operations (request_id, fingerprint, receipt) VALUES (?, ?, ?)')
  const kept: string[] = []
  db.transaction(() => {
    for (let place = 0; place < receipts; place += 1) {
      const requestId = randomUUID()
      insert.run(requestId, FINGERPRINT, JSON.stringify(oldReceipt(requestId, place)))
      if (place % Math.ceil(receipts / KEPT_IDS) === 0) kept.push(requestId)
    }
  })()
  db.close()
  return kept
}
