import { once } from 'node:events'
import { chmodSync, copyFileSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkIntegrity, openLedger, type Entry } from '../../src/ledger/index.ts'
import { codeOf, directory, firstLine, open, openHere, owners, receipt, row, startChild } from './support.ts'

const fresh = () => {
  const root = directory()
  return { root, path: join(root, 'operations.sqlite3'), file: join(root, 'copy.sqlite3') }
}

describe('backup', () => {
  test('makes one private file with every receipt, which opens as a ledger', async () => {
    const { root, path, file } = fresh()
    const ledger = await openHere(path)
    for (let i = 0; i < 50; i++) ledger.claim(row(`request-${i}`))
    const made = await ledger.backup(file)
    expect(made).toEqual({ operations: 50, bytes: statSync(file).size })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(root).filter((name) => name.startsWith('copy'))).toEqual(['copy.sqlite3'])
    const copy = await openHere(file)
    expect([...copy.all()]).toEqual([...ledger.all()])
  })

  test('refuses a file that exists, also a link that leads nowhere, and leaves it as it is', async () => {
    const { path, file } = fresh()
    const ledger = await openHere(path)
    writeFileSync(file, 'precious')
    expect(await codeOf(() => ledger.backup(file))).toBe('backup_failed')
    expect(statSync(file).size).toBe(8)
    expect(await codeOf(() => ledger.backup(path))).toBe('backup_failed')
    expect(await checkIntegrity(path)).toEqual([])
  })

  test('says why there is none in a directory that is not there', async () => {
    const { path, root } = fresh()
    const ledger = await openHere(path)
    const file = join(root, 'no', 'copy')
    await expect(ledger.backup(file)).rejects.toThrow(`${file}: ENOENT`)
  })

  test('of a damaged ledger fails and leaves no file', async () => {
    const { path, file } = fresh()
    const ledger = await openLedger({ path, endpoint: 'e' })
    for (let i = 0; i < 100; i++) ledger.claim(row(`request-${i}`, { padding: 'x'.repeat(4_000) }))
    ledger.close()
    // An index that lacks what its table has: every page is readable, the whole is not sound.
    const db = new Database(path)
    db.unsafeMode()
    db.pragma('writable_schema = ON')
    db.exec(
      `UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'thread_claims')
       WHERE name = 'operations_by_thread'`,
    )
    db.close()
    const damaged = await openHere(path)
    expect(await codeOf(() => damaged.backup(file))).toBe('backup_failed')
    expect(existsSync(file)).toBe(false)
  })

  test('is whole while another process writes', async () => {
    const { root, file } = fresh()
    const place = { stateDir: root, socketPath: '/run/app-server.sock' }
    const writer = startChild('write.ts', [place.stateDir, place.socketPath, 'writer'])
    await firstLine(writer)
    writer.stdout?.resume()
    const ledger = await openLedger(place)
    onTestFinished(() => ledger.close())
    for (const name of ['one', 'two', 'three']) {
      const before = ledger.counts().operations
      const made = await ledger.backup(`${file}.${name}`)
      expect(made.operations).toBeGreaterThanOrEqual(before)
    }
    const exit = once(writer, 'exit')
    writer.kill('SIGKILL')
    await exit
  })

  test('waits for a lock, and copies no empty ledger for a locked one', async () => {
    const { root, path, file } = fresh()
    // As on a network file system: readers and writers exclude each other.
    const network = () => ({ name: 'nfs', network: true })
    const ledger = await openLedger({ path, endpoint: 'e', fileSystem: network, busyTimeoutMs: 20 })
    onTestFinished(() => ledger.close())
    ledger.claim(row('r'))
    const other = new Database(path)
    onTestFinished(() => void other.close())
    other.exec('BEGIN EXCLUSIVE')
    expect(await codeOf(() => ledger.backup(file))).toBe('ledger_locked')
    expect(readdirSync(root)).not.toContain('copy.sqlite3')
    other.exec('COMMIT')
    expect((await ledger.backup(file)).operations).toBe(1)
  })
})

describe('all', () => {
  const idsOf = (entries: Iterable<Entry>): string[] => [...entries].map(({ requestId }) => requestId)

  test('gives every receipt once, oldest first, whatever its status', async () => {
    const ledger = await openHere(fresh().path)
    const statuses = ['accepted', 'failed', 'outcome_unknown', 'in_progress_or_unknown'] as const
    const expected = Array.from({ length: 300 }, (_, i) => `request-${String(i).padStart(3, '0')}`)
    for (const [i, requestId] of [...expected.entries()].reverse()) {
      const status = statuses[i % statuses.length] ?? 'accepted'
      ledger.claim(row(requestId, { status, startedAt: Math.floor(i / 3) }))
    }
    expect(idsOf(ledger.all())).toEqual(expected)
  })

  test('gives a receipt once whose status changes while it is read', async () => {
    const ledger = await openHere(fresh().path)
    const expected = Array.from({ length: 400 }, (_, i) => `request-${String(i).padStart(3, '0')}`)
    for (const requestId of expected) ledger.claim(row(requestId))
    const seen: string[] = []
    for (const { requestId } of ledger.all()) {
      seen.push(requestId)
      if (seen.length === 100) for (const id of expected) ledger.save(receipt(id, { status: 'failed' }))
    }
    expect(seen).toEqual(expected)
  })

  test('reads a receipt whose owner is dead as every other read does', async () => {
    const { path } = fresh()
    const ledger = await openLedger({ path, endpoint: 'e', isAlive: () => false })
    onTestFinished(() => ledger.close())
    ledger.claim(row('r', open(owners.dead)))
    expect([...ledger.all()].map((entry) => entry.receipt?.error?.code)).toEqual(['not_sent'])
  })

  test('goes on behind a receipt that is unreadable', async () => {
    const { path } = fresh()
    const ledger = await openHere(path)
    ledger.claim(row('z'))
    const db = new Database(path)
    db.exec("INSERT INTO operations VALUES ('bad', 'f', 'not JSON')")
    db.close()
    expect([...ledger.all()]).toEqual([
      { requestId: 'bad', receipt: undefined },
      { requestId: 'z', receipt: receipt('z') },
    ])
  })

  test('holds no lock between pages', async () => {
    const { path } = fresh()
    const ledger = await openHere(path)
    for (let i = 0; i < 200; i++) ledger.claim(row(`request-${i}`))
    const entries = ledger.all()[Symbol.iterator]()
    entries.next()
    const db = new Database(path, { timeout: 0 })
    onTestFinished(() => void db.close())
    const [checkpoint] = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').raw().all()
    expect(checkpoint).toEqual([0, 0, 0])
  })
})

describe('checkIntegrity', () => {
  test('finds nothing in a sound ledger and leaves its directory as it is, closed or open', async () => {
    const { root, path } = fresh()
    ;(await openLedger({ path, endpoint: 'e' })).close()
    const closed = readdirSync(root)
    expect(await checkIntegrity(path)).toEqual([])
    expect(readdirSync(root)).toEqual(closed)
    const ledger = await openHere(path)
    ledger.claim(row('r'))
    const files = () => readdirSync(root).map((name) => [name, statSync(join(root, name)).size])
    const opened = files()
    expect(await checkIntegrity(path)).toEqual([])
    expect(files()).toEqual(opened)
  })

  test('leaves what a crash left', async () => {
    const { root, path } = fresh()
    const ledger = await openHere(path)
    ledger.claim(row('r'))
    const crashed = join(root, 'crashed.sqlite3')
    for (const end of ['', '-wal']) copyFileSync(path + end, crashed + end)
    chmodSync(crashed, 0o600)
    const sizes = () => ['', '-wal'].map((end) => statSync(crashed + end).size)
    const before = sizes()
    expect(await checkIntegrity(crashed)).toEqual([])
    expect(sizes()).toEqual(before)
  })

  test('tells what is wrong, in at most ten lines', async () => {
    const { path } = fresh()
    const ledger = await openLedger({ path, endpoint: 'e' })
    for (let i = 0; i < 200; i++) ledger.claim(row(`request-${i}`, { padding: 'x'.repeat(4_000) }))
    ledger.close()
    const bytes = Buffer.alloc(4096, 0xa5)
    const db = new Database(path)
    const pages = Number(db.pragma('page_count', { simple: true }))
    db.close()
    const { openSync, writeSync, closeSync } = await import('node:fs')
    const handle = openSync(path, 'r+')
    for (let page = 20; page < pages; page++) writeSync(handle, bytes, 0, 4096, page * 4096)
    closeSync(handle)
    const problems = await checkIntegrity(path)
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.length).toBeLessThanOrEqual(10)
  })

  test.each([
    ['is no ledger', 'not a database, but long enough to look like one\n'.repeat(50), 'ledger_corrupt'],
    ['is not there', undefined, 'ledger_read_only'],
  ])('says what a file is that %s', async (_what, text, code) => {
    const { path } = fresh()
    if (text !== undefined) writeFileSync(path, text)
    expect(await codeOf(() => checkIntegrity(path))).toBe(code)
  })
})
