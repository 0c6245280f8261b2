import { copyFileSync, chmodSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../src/ledger/index.ts'
import { COUNT, GET, LIST_BY_STATUS, LIST_BY_THREAD, SAVE } from '../../src/ledger/statements.ts'
import { directory, endpoint, openHere, receipt, row } from './support.ts'

const pythonTable =
  'CREATE TABLE operations (request_id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, receipt TEXT NOT NULL)'

/** Plain SQLite on a ledger, as another program would open it. */
const plain = (path: string) => {
  const db = new Database(path)
  onTestFinished(() => void db.close())
  return db
}

const fresh = async () => {
  const path = join(directory(), 'operations.sqlite3')
  ;(await openLedger({ path, endpoint })).close()
  return path
}

/** A ledger that the Python bridge left. */
const python = () => {
  const path = join(directory(), 'operations.sqlite3')
  copyFileSync(fileURLToPath(new URL('python/sample.sqlite3', import.meta.url)), path)
  chmodSync(path, 0o600)
  return path
}

const planOf = (db: Database.Database, sql: string, parameters: unknown[]) =>
  db
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...parameters)
    .map(({ detail }) => detail)

test('the table of operations is the Python bridge’s, letter for letter', async () => {
  const db = plain(await fresh())
  expect(db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'operations'").pluck().get()).toBe(
    pythonTable,
  )
  expect(db.pragma('user_version', { simple: true })).toBe(1)
})

test('a commit is durable: WAL, and a sync at each', async () => {
  const path = await fresh()
  expect(plain(path).pragma('journal_mode', { simple: true })).toBe('wal')
})

test('plain SQLite reads what a running ledger saved', async () => {
  const path = await fresh()
  const ledger = await openHere(path)
  ledger.claim(row('r', { title: 'größe' }))
  const stored = plain(path).prepare("SELECT receipt FROM operations WHERE request_id = 'r'").pluck().get()
  expect(JSON.parse(String(stored))).toEqual(receipt('r', { title: 'größe' }))
})

describe('every statement that could grow with the ledger uses an index', () => {
  const range = { status: 'failed', startedAt: 1, requestId: 'r', limit: 9 }
  const byRequest = 'SEARCH operations USING INDEX sqlite_autoindex_operations_1 (request_id=?)'
  test.each([
    ['a claim or get', GET, ['r'], byRequest],
    ['a save', SAVE, ['{}', 'r'], byRequest],
    [
      'a list',
      LIST_BY_STATUS,
      [range],
      'SEARCH operations USING INDEX operations_by_status (<expr>=? AND <expr><?)',
    ],
    [
      'a list of a thread',
      LIST_BY_THREAD,
      [{ ...range, threadId: 't' }],
      'SEARCH operations USING INDEX operations_by_thread (<expr>=? AND <expr>=? AND <expr><?)',
    ],
    [
      'a count',
      COUNT,
      ['operations'],
      'SEARCH operation_counts USING INDEX sqlite_autoindex_operation_counts_1 (name=?)',
    ],
  ])('%s', async (_what, sql, parameters, plan) => {
    // One line: no scan, and no sorting after the search.
    expect(planOf(plain(await fresh()), sql, parameters)).toEqual([plan])
  })
})

describe('a ledger of the Python bridge', () => {
  test('opens as it is, and its receipts read', async () => {
    const ledger = await openHere(python())
    expect(ledger.counts()).toEqual({ operations: 5, uncertain: 2 })
    const read = ledger.list({ limit: 9 }).receipts
    expect(read.map(({ requestId, status, next }) => [requestId, status, next])).toEqual([
      ['v2-unknown', 'outcome_unknown', 'reconcile'],
      ['v2-open', 'outcome_unknown', 'reconcile'],
      ['v2-failed', 'failed', 'inspect'],
      ['v2-accepted', 'accepted', 'none'],
      ['v1-link', 'accepted', 'none'],
    ])
    expect(ledger.get('v2-failed')).toEqual({
      fingerprint: 'f33d34490b275e31025a31ab854b40d831da891a502027ec528979219c712d69',
      receipt: {
        requestId: 'v2-failed',
        operation: 'create_thread',
        status: 'failed',
        startedAt: 1_790_000_000.25,
        updatedAt: 1_790_000_001.5,
        retrySafe: false,
        next: 'inspect',
        fingerprintVersion: 2,
        steps: [],
        threadId: '01a00000-0000-7000-8000-000000000002',
        error: { code: 'app_server_error', message: 'thread/name/set: {"code": -32602}' },
        rpcError: { code: -32602, message: 'name rejected' },
      },
    })
  })

  test('is found by thread and by derived status', async () => {
    const ledger = await openHere(python())
    const threadId = '01a00000-0000-7000-8000-000000000001'
    const ids = ledger.list({ limit: 9, threadId, status: 'outcome_unknown' }).receipts
    expect(ids.map(({ requestId }) => requestId)).toEqual(['v2-open'])
  })

  test('keeps its rows byte for byte', async () => {
    const path = python()
    const all = (db: Database.Database) => db.prepare('SELECT * FROM operations ORDER BY 1').all()
    const before = plain(python())
    const ledger = await openHere(path)
    ledger.list({ limit: 9 })
    expect(all(plain(path))).toEqual(all(before))
  })

  test('stays writable for a program that knows the one table only', async () => {
    const path = python()
    const ledger = await openHere(path)
    const db = plain(path)
    const open = JSON.stringify({ requestId: 'p', status: 'in_progress_or_unknown', startedAt: 1 })
    const insert = db.prepare("INSERT OR IGNORE INTO operations VALUES ('p', 'f', ?)")
    expect([insert.run(open).changes, insert.run(open).changes]).toEqual([1, 0])
    expect(ledger.counts()).toEqual({ operations: 6, uncertain: 3 })
    const unknown = JSON.stringify({ requestId: 'p', status: 'outcome_unknown', startedAt: 1 })
    db.prepare("UPDATE operations SET receipt = ? WHERE request_id = 'p'").run(unknown)
    expect(ledger.counts()).toEqual({ operations: 6, uncertain: 3 })
    db.prepare("DELETE FROM operations WHERE request_id = 'p'").run()
    expect(ledger.counts()).toEqual({ operations: 5, uncertain: 2 })
  })
})
