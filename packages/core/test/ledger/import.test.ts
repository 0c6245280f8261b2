import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { describe, expect, onTestFinished, test } from 'vitest'
import { BridgeError } from '../../src/contract/index.ts'
import {
  endpointIdentity,
  ledgerFileName,
  openLedger,
  otherLedgerPaths,
  type LedgerOptions,
  type Receipt,
} from '../../src/ledger/index.ts'
import { codeOf, directory, firstLine, open, owners, receipt, resultOf, startChild } from './support.ts'

/** A state directory and a socket behind a link, which the Python bridge knew by the names of both. */
const setUp = () => {
  const stateDir = directory()
  const daemon = join(stateDir, 'codex-daemon-1000')
  const socketPath = join(stateDir, 'control.sock')
  symlinkSync(join(daemon, 'a1b2'), socketPath)
  const alias = join(stateDir, 'alias.sock')
  symlinkSync(socketPath, alias)
  const fileOf = (path: string): string => join(stateDir, ledgerFileName(path))
  return {
    stateDir,
    own: fileOf(endpointIdentity(alias)),
    supplied: fileOf(alias),
    resolved: fileOf(join(daemon, 'a1b2')),
    place: { stateDir, socketPath: alias },
  }
}

const sample = (name: string, to: string): void => {
  copyFileSync(fileURLToPath(new URL(`python/${name}.sqlite3`, import.meta.url)), to)
  chmodSync(to, 0o600)
}

/** Plain SQL on a file, as its own bridge would do. */
const edit = (path: string, sql: string, ...values: string[]): void => {
  const db = new Database(path)
  db.prepare(sql).run(...values)
  db.close()
}

const rowsOf = (path: string): unknown[] => {
  const db = new Database(path)
  const rows = db.prepare('SELECT * FROM operations ORDER BY request_id').all()
  db.close()
  return rows
}

const openAt = async (place: LedgerOptions) => {
  const ledger = await openLedger(place)
  onTestFinished(() => ledger.close())
  return ledger
}

const conflictAt = async (place: LedgerOptions): Promise<BridgeError> => {
  const error: unknown = await openLedger(place).catch((thrown: unknown) => thrown)
  if (!BridgeError.is(error)) throw new Error('no BridgeError')
  return error
}

/** Long enough ago that a later look can tell a change. */
const age = (path: string): void => utimesSync(path, new Date(0), new Date(0))

const save = (path: string, members: Partial<Receipt>): void =>
  edit(
    path,
    'UPDATE operations SET receipt = ? WHERE request_id = ?',
    JSON.stringify({ ...receipt('v2-open'), fingerprintVersion: 2, ...members }),
    'v2-open',
  )

test('the other names are those of the path as supplied and of the path with every link followed', () => {
  const { place, supplied, resolved } = setUp()
  expect(otherLedgerPaths(place)).toEqual([supplied, resolved])
  expect(otherLedgerPaths({ path: '/a', endpoint: '/b' })).toEqual([])
  expect(otherLedgerPaths({ stateDir: '/s', socketPath: '/no/links.sock' })).toEqual([])
})

describe('ledgers under other names', () => {
  test('are copied into ours byte for byte, and stay as they are', async () => {
    const { place, own, supplied, resolved } = setUp()
    sample('sample', supplied)
    sample('sample', resolved)
    edit(resolved, "DELETE FROM operations WHERE request_id <> 'v2-failed'")
    edit(resolved, "UPDATE operations SET request_id = 'only here'")
    const files = [supplied, resolved]
    const before = files.map((file) => readFileSync(file))
    const ledger = await openAt(place)
    expect(ledger.counts()).toEqual({ operations: 6, uncertain: 2 })
    ledger.close()
    expect(rowsOf(own)).toEqual(expect.arrayContaining([...rowsOf(supplied), ...rowsOf(resolved)]))
    expect(files.map((file, i) => readFileSync(file).equals(before[i] ?? Buffer.of()))).toEqual([true, true])
  })

  test('are none of ours: nothing is made for them', async () => {
    const { place, own, supplied, resolved } = setUp()
    ;(await openLedger(place)).close()
    expect([supplied, resolved].filter(existsSync)).toEqual([])
    const db = new Database(own, { readonly: true })
    onTestFinished(() => void db.close())
    expect(db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'import%'").all()).toEqual([])
  })

  test('are left alone when a file is opened as it is', async () => {
    const { place, supplied } = setUp()
    sample('sample', supplied)
    const ledger = await openAt({ ...place, importOthers: false })
    expect(ledger.counts().operations).toBe(0)
  })

  test('may be empty, or have no table yet', async () => {
    const { place, supplied, resolved } = setUp()
    writeFileSync(supplied, '', { mode: 0o600 })
    edit(resolved, 'CREATE TABLE something_else (a)')
    chmodSync(resolved, 0o600)
    expect((await openAt(place)).counts().operations).toBe(0)
  })

  test('that crashed in the middle of a write are played back first', async () => {
    const { place, supplied } = setUp()
    sample('sample', supplied)
    const db = new Database(supplied)
    db.pragma('cache_spill = 1')
    db.pragma('cache_size = 1')
    db.exec('BEGIN')
    const insert = db.prepare("INSERT INTO operations VALUES (?, 'f', ?)")
    for (let i = 0; i < 50; i++) insert.run(`half ${i}`, 'x'.repeat(4_000))
    const crashed = directory()
    copyFileSync(supplied, join(crashed, 'db'))
    copyFileSync(`${supplied}-journal`, join(crashed, 'journal'))
    db.exec('ROLLBACK')
    db.close()
    copyFileSync(join(crashed, 'db'), supplied)
    copyFileSync(join(crashed, 'journal'), `${supplied}-journal`)
    expect((await openAt(place)).counts().operations).toBe(5)
  })

  test.each([
    ['is open to others', (path: string) => chmodSync(path, 0o644), 'ledger_not_private'],
    ['is garbage', (path: string) => writeFileSync(path, 'no database'.repeat(99)), 'ledger_corrupt'],
    ['is newer', (path: string) => edit(path, 'PRAGMA user_version = 999'), 'ledger_newer'],
  ])('stop the opening when one %s', async (_what, spoil, code) => {
    const { place, own, supplied } = setUp()
    sample('sample', supplied)
    spoil(supplied)
    const error = await conflictAt(place)
    expect([error.code, error.message.includes(supplied)]).toEqual([code, true])
    expect(rowsOf(own)).toEqual([])
  })
})

describe('importing again', () => {
  test('changes nothing, also when our rows have moved on', async () => {
    const { place, own, supplied } = setUp()
    sample('sample', supplied)
    const first = await openLedger(place)
    first.save(receipt('v2-unknown', { status: 'failed', fingerprintVersion: 2 }))
    first.close()
    const before = rowsOf(own)
    ;(await openLedger(place)).close()
    expect(rowsOf(own)).toEqual(before)
  })

  test('does not read a file that has not changed', async () => {
    const { place, supplied } = setUp()
    sample('sample', supplied)
    age(supplied)
    ;(await openLedger(place)).close()
    // The same size and time: only a reader could tell.
    writeFileSync(supplied, 'x'.repeat(readFileSync(supplied).length))
    age(supplied)
    ;(await openLedger(place)).close()
    utimesSync(supplied, new Date(0), new Date(1_000))
    expect(await codeOf(() => openLedger(place))).toBe('ledger_corrupt')
  })

  test('takes what its bridge has added, and what it knows better of a row that we left alone', async () => {
    const { place, supplied } = setUp()
    sample('sample', supplied)
    ;(await openLedger(place)).close()
    edit(supplied, "INSERT INTO operations VALUES ('later', 'f', ?)", JSON.stringify(receipt('later')))
    save(supplied, { turnId: 'known now' })
    const ledger = await openAt(place)
    expect(ledger.get('later')?.receipt.status).toBe('accepted')
    expect(ledger.get('v2-open')?.receipt).toMatchObject({ status: 'accepted', turnId: 'known now' })
  })

  test('stops when both bridges have gone on with the same row', async () => {
    const { place, supplied } = setUp()
    sample('sample', supplied)
    const ledger = await openLedger(place)
    ledger.save(receipt('v2-open', { turnId: 'ours' }))
    ledger.close()
    save(supplied, { turnId: 'theirs' })
    expect((await conflictAt(place)).code).toBe('ledger_import_conflict')
  })

  test('follows an older ledger of our own whose process lives', async () => {
    const { place, supplied } = setUp()
    const older = await openAt({ path: supplied, endpoint: 'older', isAlive: () => true })
    older.claim({ fingerprint: 'f', receipt: receipt('r', open(owners.living)) })
    const newer = await openLedger({ ...place, isAlive: () => true })
    expect(newer.get('r')?.receipt.execution).toBe('running')
    newer.close()
    older.save(receipt('r', { turnId: 't' }))
    expect((await openAt(place)).get('r')?.receipt).toMatchObject({ status: 'accepted', turnId: 't' })
  })
})

describe('a request id with two contents', () => {
  test('stops the opening, named with both files, and nothing of either is taken', async () => {
    const { place, own, supplied, resolved } = setUp()
    sample('sample', supplied)
    sample('conflict', resolved)
    const error = await conflictAt(place)
    expect({ code: error.code, next: error.next, message: error.message, details: error.details }).toEqual({
      code: 'ledger_import_conflict',
      next: 'same_request_id',
      message: `request_id "v2-accepted" stands in ${supplied} and in ${resolved} with different contents.`,
      details: { requestId: 'v2-accepted', files: [supplied, resolved] },
    })
    expect(rowsOf(own)).toEqual([])
  })

  test('names our own file when ours is the other one', async () => {
    const { place, own, supplied } = setUp()
    sample('sample', own)
    sample('conflict', supplied)
    const before = rowsOf(own)
    expect((await conflictAt(place)).details).toEqual({ requestId: 'v2-accepted', files: [own, supplied] })
    expect(rowsOf(own)).toEqual(before)
  })

  test.each([
    ['the fingerprint alone', "UPDATE operations SET fingerprint = 'another' WHERE request_id = 'v2-failed'"],
    [
      'the receipt alone',
      "UPDATE operations SET receipt = json_set(receipt, '$.threadId', 'x') WHERE request_id = 'v2-failed'",
    ],
    ['a receipt that is no JSON', "UPDATE operations SET receipt = '?' WHERE request_id = 'v2-failed'"],
  ])('may differ in %s', async (_what, change) => {
    const { place, own, supplied } = setUp()
    sample('sample', own)
    sample('sample', supplied)
    edit(supplied, change)
    expect((await conflictAt(place)).details?.requestId).toBe('v2-failed')
  })

  test('is none when the same JSON is written differently', async () => {
    const { place, own, supplied } = setUp()
    sample('sample', own)
    sample('sample', supplied)
    edit(supplied, "UPDATE operations SET receipt = json_remove(receipt, '$.none')")
    expect(rowsOf(supplied)).not.toEqual(rowsOf(own))
    expect((await openAt(place)).counts().operations).toBe(5)
  })

  test('is settled by moving one of the files away', async () => {
    const { place, supplied, resolved, stateDir } = setUp()
    sample('sample', supplied)
    sample('conflict', resolved)
    expect(await codeOf(() => openLedger(place))).toBe('ledger_import_conflict')
    copyFileSync(resolved, join(stateDir, 'put aside'))
    edit(resolved, 'DELETE FROM operations')
    expect((await openAt(place)).counts().operations).toBe(5)
  })
})

test('several processes that open at once import every row once', async () => {
  const { place, own, supplied } = setUp()
  sample('sample', supplied)
  const children = [1, 2, 3].map(() => startChild('import.ts', [place.stateDir, place.socketPath]))
  await Promise.all(children.map(firstLine))
  for (const child of children) child.stdin?.end('go')
  const results = await Promise.all(children.map(resultOf))
  const Counts = Type.Object({ operations: Type.Integer(), uncertain: Type.Integer() })
  expect(results.map((result) => Value.Parse(Counts, result))).toEqual(
    children.map(() => ({ operations: 5, uncertain: 2 })),
  )
  expect(rowsOf(own)).toEqual(rowsOf(supplied))
})
