import { join } from 'node:path'
import { openLedger, type LedgerPort, type Receipt } from '@codex-thread-bridge/core/ledger'
import { tempDir } from '@codex-thread-bridge/test-fixtures'
import Database from 'better-sqlite3'
import { interleave, timed } from './support/interleave.ts'
import { receiptLife } from './support/receipts.ts'
import { atMost, rowOf, type Row } from './support/row.ts'

const ROUNDS = { warmUp: 50, rounds: 500 }
const FINGERPRINT = '0'.repeat(64)

interface Writer {
  claim(receipt: Receipt): void
  save(receipt: Receipt): void
  close(): void
}

/** Claim, one save, finish: three commits, against the same three writes to a table without indexes and counts. */
export const ledger = async (): Promise<readonly Row[]> => {
  const folder = tempDir('ledger')
  const port = await openLedger({ path: join(folder.path, 'ours.sqlite3'), endpoint: '/nowhere' })
  const ours = throughPort(port)
  const bare = bareWriter(join(folder.path, 'bare.sqlite3'))
  let round = 0
  const once = (writer: Writer): Promise<number> => {
    const { claimed, running, done } = receiptLife(`request-${String((round += 1))}`)
    return timed(() => {
      writer.claim(claimed)
      writer.save(running)
      writer.save(done)
    })
  }
  const samples = await interleave({ ours: () => once(ours), baseline: () => once(bare) }, ROUNDS)
  ours.close()
  bare.close()
  await folder.remove()
  return [
    rowOf({ what: 'claim, save, finish : three bare writes', unit: 'ms', ...samples, goal: atMost(1.5) }),
  ]
}

const throughPort = (port: LedgerPort): Writer => ({
  claim: (receipt) => void port.claim({ fingerprint: FINGERPRINT, receipt }),
  save: (receipt) => port.save(receipt),
  close: () => port.close(),
})

const bareWriter = (path: string): Writer => {
  const db = new Database(path)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec(
    'CREATE TABLE operations (request_id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, receipt TEXT NOT NULL)',
  )
  const insert = db.prepare('INSERT INTO operations VALUES (?, ?, ?)')
  const update = db.prepare('UPDATE operations SET receipt = ? WHERE request_id = ?')
  return {
    claim: (receipt) => void insert.run(receipt.requestId, FINGERPRINT, JSON.stringify(receipt)),
    save: (receipt) => void update.run(JSON.stringify(receipt), receipt.requestId),
    close: () => void db.close(),
  }
}
