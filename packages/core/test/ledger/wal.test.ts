import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/ledger/database.ts'
import { fileSystemKind } from '../../src/ledger/index.ts'
import { sqliteLedger } from '../../src/ledger/sqlite-ledger.ts'
import { directory, endpoint, firstLine, owners, receipt, row, startChild } from './support.ts'

const MIB = 1024 * 1024

/** A ledger without syncs: how much is written does not depend on them, and the disk is spared. */
const openUnsynced = async () => {
  const path = join(directory(), 'operations.sqlite3')
  const db = await openDatabase({ path, busyTimeoutMs: 10_000, fileSystem: fileSystemKind })
  onTestFinished(() => void db.close())
  db.pragma('synchronous = OFF')
  return { path, db, ledger: sqliteLedger(db, { path, endpoint, owner: owners.living, isAlive: () => true }) }
}

const sizeOfWal = (path: string): number => statSync(`${path}-wal`).size

const padded = (saves: number) => receipt('r', { updatedAt: saves, padding: 'x'.repeat(2_000) })

test('after 10,000 saves the write-ahead log is small, also while other processes hold the ledger open and read', async () => {
  const { path, ledger } = await openUnsynced()
  const readers = [1, 2, 3].map(() => startChild('hold-open.ts', [path]))
  await Promise.all(readers.map(firstLine))
  ledger.claim(row('r'))
  let largest = 0
  for (let saves = 1; saves <= 10_000; saves++) {
    ledger.save(padded(saves))
    if (saves % 500 !== 0) continue
    largest = Math.max(largest, sizeOfWal(path))
    const reader = readers[(saves / 500) % readers.length]
    const answer = reader && firstLine(reader)
    reader?.stdin?.write('read\n')
    expect(await answer).toBe('1')
  }
  // 1,000 pages are the mark at which every writer checkpoints.
  expect(largest).toBeLessThanOrEqual(5 * MIB)
  for (const reader of readers) {
    const exit = once(reader, 'exit')
    reader.stdin?.end()
    await exit
  }
}, 120_000)

test('a log that grew under a long read is cut back to 16 MiB afterwards', async () => {
  const { path, ledger } = await openUnsynced()
  ledger.claim(row('r'))
  const { db: reader } = await reading(path)
  for (let saves = 1; saves <= 8_000; saves++) ledger.save(padded(saves))
  expect(sizeOfWal(path)).toBeGreaterThan(16 * MIB)
  reader.exec('COMMIT')
  for (let saves = 1; saves <= 3_000; saves++) ledger.save(padded(saves))
  expect(sizeOfWal(path)).toBeLessThanOrEqual(16 * MIB)
}, 120_000)

/** Another connection in the middle of a read. */
const reading = async (path: string) => {
  const db = await openDatabase({ path, busyTimeoutMs: 10_000, fileSystem: fileSystemKind })
  onTestFinished(() => void db.close())
  db.exec('BEGIN; SELECT * FROM operations')
  return { db }
}
