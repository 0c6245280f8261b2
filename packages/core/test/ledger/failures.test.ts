import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fileSystemKind, openLedger } from '../../src/ledger/index.ts'
import { openDatabase } from '../../src/ledger/database.ts'
import { ledgerError } from '../../src/ledger/ledger-error.ts'
import { sqliteLedger } from '../../src/ledger/sqlite-ledger.ts'
import {
  codeOf,
  directory,
  endpoint,
  openHere,
  owners,
  receipt,
  resultOf,
  row,
  startChild,
} from './support.ts'

/** A ledger whose connection a test can bend. */
const openBent = async () => {
  const path = join(directory(), 'operations.sqlite3')
  const db = await openDatabase({ path, busyTimeoutMs: 20, fileSystem: fileSystemKind })
  onTestFinished(() => void db.close())
  return { db, ledger: sqliteLedger(db, { path, endpoint, owner: owners.living, isAlive: () => true }) }
}

/** A closed ledger of some hundred pages. */
const filled = async () => {
  const path = join(directory(), 'operations.sqlite3')
  const ledger = await openLedger({ path, endpoint })
  for (let i = 0; i < 100; i++) ledger.claim(row(`request-${i}`, { padding: 'x'.repeat(4_000) }))
  ledger.close()
  return path
}

const overwrite = (path: string, offset: number, length: number) => {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(length, 0xa5), 0, length, offset)
  closeSync(file)
}

describe('a locked ledger', () => {
  const lock = (path: string) => {
    const other = new Database(path)
    onTestFinished(() => void other.close())
    other.exec('BEGIN EXCLUSIVE')
    return other
  }

  test('refuses every write, still answers replays, and works again afterwards', async () => {
    const path = join(directory(), 'operations.sqlite3')
    const ledger = await openHere(path, 20)
    ledger.claim(row('known'))
    const other = lock(path)
    expect(await codeOf(() => ledger.claim(row('r')))).toBe('ledger_locked')
    expect(await codeOf(() => ledger.save(receipt('known', { title: 'new' })))).toBe('ledger_locked')
    expect(await codeOf(() => ledger.drop('known'))).toBe('ledger_locked')
    expect(await codeOf(() => ledger.enqueue('t', 'known'))).toBe('ledger_locked')
    expect(ledger.claim(row('known')).won).toBe(false)
    other.exec('ROLLBACK')
    expect(ledger.get('r')).toBeUndefined()
    expect(ledger.claim(row('r')).won).toBe(true)
  })

  test('cannot be opened for the first time', async () => {
    const path = join(directory(), 'operations.sqlite3')
    writeFileSync(path, '', { mode: 0o600 })
    lock(path)
    expect(await codeOf(() => openLedger({ path, endpoint, busyTimeoutMs: 60 }))).toBe('ledger_locked')
  })
})

describe('a damaged ledger', () => {
  test('cannot be opened when its header is garbage, and is left as it is', async () => {
    const path = await filled()
    overwrite(path, 0, 100)
    const before = readFileSync(path)
    expect(await codeOf(() => openLedger({ path, endpoint }))).toBe('ledger_corrupt')
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test('cannot be opened when it is another kind of file', async () => {
    const path = join(directory(), 'operations.sqlite3')
    writeFileSync(path, 'not a database, but long enough to look like one\n'.repeat(50), { mode: 0o600 })
    expect(await codeOf(() => openLedger({ path, endpoint }))).toBe('ledger_corrupt')
  })

  test('says so where a page is garbage', async () => {
    const path = await filled()
    const pages = Math.floor(statSync(path).size / 4096)
    overwrite(path, 4096 * 8, 4096 * (pages - 8))
    const ledger = await openHere(path)
    expect(await codeOf(() => ledger.list({ limit: 1_000 }))).toBe('ledger_corrupt')
    expect(await codeOf(() => ledger.claim(row('request-50')))).toBe('ledger_corrupt')
  })

  test('says so where the file was cut', async () => {
    const path = await filled()
    writeFileSync(path, readFileSync(path).subarray(0, 4096 * 20))
    const attempt = async () => (await openHere(path)).list({ limit: 1_000 })
    expect(await codeOf(attempt)).toBe('ledger_corrupt')
  })

  test('names the request whose receipt is unreadable; every other request works', async () => {
    const path = join(directory(), 'operations.sqlite3')
    ;(await openLedger({ path, endpoint })).close()
    const raw = new Database(path)
    raw.prepare("INSERT INTO operations VALUES ('bad one', 'f', 'not JSON')").run()
    raw.close()
    const ledger = await openHere(path)
    ledger.claim(row('good'))
    expect(() => ledger.get('bad one')).toThrow(/receipt of "bad one"/)
    expect(await codeOf(() => ledger.claim(row('bad one')))).toBe('ledger_corrupt')
    expect(await codeOf(() => ledger.list({ limit: 9 }))).toBe('ledger_corrupt')
    expect(ledger.list({ limit: 9, status: 'accepted' }).receipts).toHaveLength(1)
    expect(ledger.counts()).toEqual({ operations: 2, uncertain: 0 })
    ledger.save(receipt('bad one'))
    expect(ledger.list({ limit: 9 }).receipts).toHaveLength(2)
  })
})

describe('a full ledger', () => {
  test('claims nothing, keeps what it has and answers replays (page limit of the database)', async () => {
    const { db, ledger } = await openBent()
    ledger.claim(row('known'))
    db.pragma(`max_page_count = ${Number(db.pragma('page_count', { simple: true }))}`)
    const large = row('large', { padding: 'x'.repeat(20_000) })
    expect(await codeOf(() => ledger.claim(large))).toBe('ledger_full')
    expect(await codeOf(() => ledger.save({ ...large.receipt, requestId: 'known' }))).toBe('ledger_full')
    expect(ledger.get('large')).toBeUndefined()
    expect(ledger.claim(row('known'))).toEqual({ won: false, row: row('known') })
    db.pragma('max_page_count = 100000')
    expect(ledger.claim(large).won).toBe(true)
  })
})

// A mount of its own shows what really happens; it needs a mount namespace, which not every system lets a user have.
const withMount = (script: string) => ['unshare', '--mount', '--map-root-user', 'sh', '-c', script, 'sh']
const canMount =
  process.platform === 'linux' &&
  spawnSync('unshare', ['--mount', '--map-root-user', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0

describe.skipIf(!canMount)('on a file system of its own (needs the right to mount)', () => {
  test('a full disk refuses claims, loses none that was made and still answers replays', async () => {
    const root = directory()
    const within = withMount(`mount -t tmpfs -o size=400k,mode=700 tmpfs ${root} && exec "$@"`)
    const child = startChild('fill.ts', [join(root, 'operations.sqlite3')], { within })
    expect(await resultOf(child)).toEqual({ code: 'ledger_full', lost: 0, replay: 'replayed' })
  })

  test('a disk with no room at all cannot take a new ledger', async () => {
    const root = directory()
    const use = `dd if=/dev/zero of=${root}/ballast bs=4096 2>/dev/null`
    const within = withMount(`mount -t tmpfs -o size=64k,mode=700 tmpfs ${root}; ${use}; exec "$@"`)
    const child = startChild('fill.ts', [join(root, 'operations.sqlite3')], { within })
    expect(await resultOf(child)).toEqual({ opening: 'ledger_full' })
  })

  test.each([
    ['an existing ledger', 'operations.sqlite3'],
    ['a new one', 'another.sqlite3'],
  ])('a read-only mount refuses %s', async (_what, name) => {
    const path = await filled()
    const root = join(path, '..')
    const bind = `mount --bind ${root} ${root} && mount -o remount,bind,ro ${root} && exec "$@"`
    const child = startChild('fill.ts', [join(root, name)], { within: withMount(bind) })
    expect(await resultOf(child)).toEqual({ opening: 'ledger_read_only' })
  })
})

describe('a ledger that may not be written', () => {
  // Root may write everything: it looks through the eyes of another user.
  const asUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const give = (path: string, mode: number) => {
    if (asUser.uid !== undefined) chownSync(path, asUser.uid, asUser.gid)
    chmodSync(path, mode)
    if (process.getuid?.() !== 0) onTestFinished(() => chmodSync(path, 0o700))
  }

  test.each([
    ['file and directory are', 0o400, 0o500],
    ['the directory is', 0o600, 0o500],
  ])('cannot be opened when %s read-only', async (_what, fileMode, directoryMode) => {
    const path = await filled()
    give(path, fileMode)
    give(join(path, '..'), directoryMode)
    const child = startChild('fill.ts', [path], asUser)
    expect(await resultOf(child)).toEqual({ opening: 'ledger_read_only' })
  })

  test('opens when only the file is read-only: replays are answered, claims refused', async () => {
    const path = await filled()
    give(path, 0o400)
    give(join(path, '..'), 0o700)
    const child = startChild('fill.ts', [path], asUser)
    expect(await resultOf(child)).toEqual({ code: 'ledger_read_only', lost: 0, replay: 'replayed' })
  })

  test('cannot be made in a read-only directory', async () => {
    const root = directory()
    give(root, 0o500)
    const child = startChild('fill.ts', [join(root, 'operations.sqlite3')], asUser)
    expect(await resultOf(child)).toEqual({ opening: 'ledger_read_only' })
  })

  test('refuses claims and answers replays when it became read-only after opening', async () => {
    const { db, ledger } = await openBent()
    ledger.claim(row('known'))
    db.pragma('query_only = ON')
    expect(await codeOf(() => ledger.claim(row('r')))).toBe('ledger_read_only')
    expect(ledger.claim(row('known')).won).toBe(false)
  })
})

test('a missing driver is named with the line that installs it', async () => {
  const child = startChild('hide-driver.ts', [join(directory(), 'operations.sqlite3')])
  expect(await resultOf(child)).toEqual({ opening: 'ledger_driver_missing' })
})

test('a ledger of a newer schema is refused and left as it is', async () => {
  const path = await filled()
  const raw = new Database(path)
  raw.pragma('user_version = 999')
  raw.pragma('journal_mode = DELETE')
  raw.close()
  const before = readFileSync(path)
  expect(await codeOf(() => openLedger({ path, endpoint }))).toBe('ledger_newer')
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a file with another table of the name is refused', async () => {
  const path = join(directory(), 'operations.sqlite3')
  const raw = new Database(path)
  raw.exec('CREATE TABLE operations (id INTEGER)')
  raw.close()
  chmodSync(path, 0o600)
  expect(await codeOf(() => openLedger({ path, endpoint }))).toBe('ledger_unavailable')
})

test('a closed ledger says so, and may be closed again', async () => {
  const ledger = await openLedger({ path: join(directory(), 'operations.sqlite3'), endpoint })
  ledger.close()
  ledger.close()
  expect(await codeOf(() => ledger.get('r'))).toBe('ledger_unavailable')
})

test.each([
  ['SQLITE_BUSY_RECOVERY', 'ledger_locked'],
  ['SQLITE_PROTOCOL', 'ledger_locked'],
  ['SQLITE_CORRUPT_VTAB', 'ledger_corrupt'],
  ['SQLITE_NOTADB', 'ledger_corrupt'],
  ['SQLITE_READONLY_DIRECTORY', 'ledger_read_only'],
  ['SQLITE_READONLY_DBMOVED', 'ledger_unavailable'],
  ['SQLITE_CANTOPEN', 'ledger_read_only'],
  ['SQLITE_FULL', 'ledger_full'],
  ['SQLITE_IOERR_WRITE', 'ledger_unavailable'],
  ['SQLITE_NOMEM', 'ledger_unavailable'],
  ['EROFS', 'ledger_read_only'],
  ['ENOSPC', 'ledger_full'],
  ['ENOTDIR', 'ledger_unavailable'],
])('%s is %s', (code, expected) => {
  const error = ledgerError(
    join(directory(), 'operations.sqlite3'),
    Object.assign(new Error('why'), { code }),
  )
  expect([error.code, error.details?.reason]).toEqual([expected, code])
  expect(error.message).toMatch(new RegExp(`operations.sqlite3: why \\(${code}\\)$`))
})
