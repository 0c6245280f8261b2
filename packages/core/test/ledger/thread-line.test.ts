import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openDatabase } from '../../src/ledger/database.ts'
import { sqliteLedger } from '../../src/ledger/sqlite-ledger.ts'
import { directory, endpoint, owners, row } from './support.ts'

const FULL = 2
const EXTRA = 3

const opened = async (network: boolean) => {
  const path = join(directory(), 'operations.sqlite3')
  const fileSystem = () => ({ name: 'any', network })
  const db = await openDatabase({ path, busyTimeoutMs: 10_000, fileSystem })
  onTestFinished(() => void db.close())
  return { db, ledger: sqliteLedger(db, { path, endpoint, owner: owners.living, isAlive: () => true }) }
}

const syncOf = (db: Database): unknown => db.pragma('synchronous', { simple: true })

/** How the commits of `act` wait for the disk, as far as it is set anew for them. */
const syncsOf = (db: Database, act: () => void): readonly string[] => {
  const pragma = vi.spyOn(db, 'pragma')
  act()
  const set = pragma.mock.calls.map(([text]) => text).filter((text) => text.includes('synchronous ='))
  pragma.mockRestore()
  return set
}

test('a place in a thread’s line does not wait for the disk, and receipts do as before', async () => {
  const { db, ledger } = await opened(false)
  const lightly = ['synchronous = NORMAL', 'synchronous = 2']
  expect(syncsOf(db, () => ledger.enqueue('t', 'r'))).toEqual(lightly)
  expect(ledger.holder('t')).toBe('r')
  expect(syncsOf(db, () => void ledger.claim(row('r')))).toEqual([])
  expect(syncsOf(db, () => ledger.dequeue('t', 'r'))).toEqual(lightly)
  expect(syncOf(db)).toBe(FULL)
})

test('receipts wait for the disk also after a place in a line could not be written', async () => {
  const { db, ledger } = await opened(false)
  db.exec("CREATE TEMP TRIGGER full BEFORE INSERT ON thread_claims BEGIN SELECT RAISE(ABORT, 'no'); END")
  expect(() => ledger.enqueue('t', 'r')).toThrow('no')
  expect(syncOf(db)).toBe(FULL)
})

test('with a rollback journal a place in a line waits for the disk as well', async () => {
  const { db, ledger } = await opened(true)
  expect(syncsOf(db, () => ledger.enqueue('t', 'r'))).toEqual([])
  expect(syncOf(db)).toBe(EXTRA)
})
