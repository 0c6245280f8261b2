import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ledgerPlace, openLedger, processOwner, type Receipt } from '@codex-thread-bridge/core/ledger'
import { at, tempDir } from '@codex-thread-bridge/test-fixtures'
import Database from 'better-sqlite3'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mainPath, runBridge } from './run-bridge.ts'

const place = tempDir('of')
const stateDir = join(place.path, 'state')
// Nobody listens: none of these commands needs an App Server.
const where = { stateDir, socketPath: join(place.path, 'none.sock') }
const options = ['--socket', where.socketPath, '--state-dir', stateDir]
const operations = (...args: string[]) => runBridge([...options, 'operations', ...args])

const full: Receipt = {
  requestId: 'b',
  operation: 'create_thread',
  family: 'bridge',
  status: 'failed',
  startedAt: 2,
  updatedAt: 3.5,
  retrySafe: false,
  next: 'inspect',
  fingerprintVersion: 3,
  deliveryMarker: 'ctb1:0123456789abcdef01234567',
  owner: processOwner(),
  caller: { threadId: 'caller', turnId: 'turn' },
  server: { version: '0.171.0', socketMtimeNs: '1' },
  steps: [{ name: 'thread/start', state: 'answered', at: 2.5 }],
  threadId: 't',
  turnId: 'u',
  creation: { thread: { preview: 'SECRET', name: 'SECRET', cwd: '/home/SECRET' } },
  resumed: { cwd: '/home/SECRET' },
  title: 'SECRET',
  verifiedEnvironment: { matches: false, differences: [{ field: 'cwd', expected: 'SECRET', actual: 1 }] },
  delivery: { state: 'recorded', as: 'turn' },
  error: { code: 'environment_mismatch', message: 'SECRET', details: { hint: 'SECRET' } },
  rpcError: { code: -32_600, message: 'SECRET', data: { text: 'SECRET' } },
  reconciliation: { verdict: 'created', checkedAt: 4, looked: { note: 'SECRET' }, serverVersion: '0.171.0' },
  // What a plugin or a later version adds is not known to be harmless.
  note: 'SECRET',
  phase: { text: 'SECRET' },
}
const redacted = {
  requestId: 'b',
  operation: 'create_thread',
  family: 'bridge',
  status: 'failed',
  startedAt: 2,
  updatedAt: 3.5,
  retrySafe: false,
  next: 'inspect',
  fingerprintVersion: 3,
  deliveryMarker: 'ctb1:0123456789abcdef01234567',
  caller: { threadId: 'caller', turnId: 'turn' },
  server: { version: '0.171.0', socketMtimeNs: '1' },
  steps: [{ name: 'thread/start', state: 'answered', at: 2.5 }],
  threadId: 't',
  turnId: 'u',
  verifiedEnvironment: { matches: false },
  delivery: { state: 'recorded', as: 'turn' },
  error: { code: 'environment_mismatch' },
  rpcError: { code: -32_600 },
  reconciliation: { verdict: 'created', checkedAt: 4, serverVersion: '0.171.0' },
  redacted: true,
}

beforeAll(async () => {
  const ledger = await openLedger(where)
  ledger.claim({ fingerprint: 'f', receipt: full })
  const { creation: _creation, ...rest } = full
  ledger.claim({ fingerprint: 'f', receipt: { ...rest, requestId: 'c', startedAt: 3 } })
  ledger.claim({ fingerprint: 'f', receipt: { ...rest, requestId: 'a', startedAt: 1 } })
  ledger.close()
})
afterAll(() => place.remove())

const linesOf = (stdout: string): readonly unknown[] =>
  stdout.split('\n').map((line) => JSON.parse(line) as unknown)

describe('export', () => {
  test('prints every receipt on a line, newest last, without any text', async () => {
    const { code, stdout, stderr } = await operations('export')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = linesOf(stdout)
    expect(lines.map((line) => at(line, 'requestId'))).toEqual(['a', 'b', 'c'])
    expect(lines[1]).toEqual(redacted)
    expect(stdout).not.toContain('SECRET')
  })

  test('prints all of it with --with-texts, but not whose process it was', async () => {
    const { owner: _owner, ...answer } = full
    const { code, stdout } = await operations('export', '--with-texts')
    expect(code).toBe(0)
    expect(linesOf(stdout)[1]).toEqual(answer)
  })

  test('takes --json: the same lines, and an error as JSON', async () => {
    const [plain, json] = [await operations('export'), await operations('export', '--json')]
    expect(json).toEqual(plain)
    const nowhere = ['--socket', where.socketPath, '--state-dir', join(place.path, 'elsewhere')]
    const { code, stdout, stderr } = await runBridge([...nowhere, 'operations', 'export', '--json'])
    expect({ code, stderr, error: at(JSON.parse(stdout), 'error.code') }).toEqual({
      code: 1,
      stderr: '',
      error: 'ledger_unavailable',
    })
  })

  test('says so when there is no ledger, and makes none', async () => {
    const elsewhere = join(place.path, 'elsewhere')
    for (const command of [['export'], ['backup', join(place.path, 'none')]]) {
      const args = ['--socket', where.socketPath, '--state-dir', elsewhere, 'operations', ...command]
      const { code, stdout, stderr } = await runBridge(args)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^ledger_unavailable: There is no ledger at .*\.sqlite3\. /)
    }
    expect(readdirSync(place.path)).not.toContain('elsewhere')
  })

  test('of a large ledger needs little memory, and ends when nobody reads on', async () => {
    const large = { ...where, stateDir: join(place.path, 'large') }
    ;(await openLedger(large)).close()
    const db = new Database(ledgerPlace(large).path)
    const insert = db.prepare('INSERT INTO operations VALUES (?, ?, ?)')
    const count = 5_000
    db.transaction(() => {
      for (let i = 0; i < count; i++) {
        const receipt = { ...full, requestId: `r-${String(i)}`, startedAt: i, padding: 'x'.repeat(12_000) }
        insert.run(receipt.requestId, 'f', JSON.stringify(receipt))
      }
    })()
    db.close()
    const args = ['--socket', large.socketPath, '--state-dir', large.stateDir, 'operations', 'export']
    // Less than the file has; some 35 MiB of it are the program.
    const env = { NODE_OPTIONS: '--max-old-space-size=52' }
    const { code, stdout } = await runBridge([...args, '--with-texts'], { env })
    expect([code, stdout.split('\n').length]).toEqual([0, count])

    const child = execa(process.execPath, [mainPath, ...args, '--with-texts'], {
      reject: false,
      buffer: false,
    })
    child.stdout.once('data', () => child.stdout.destroy())
    expect((await child).exitCode).toBe(0)
  }, 120_000)
})

test.each([
  ['list'],
  ['list', '--json'],
  ['show', 'a'],
  ['reconcile', '--all'],
  ['export'],
  ['backup', '/nowhere/copy'],
])(
  'operations %s refuses a state directory that is open to others, though it has no ledger',
  async (...args) => {
    const open = join(place.path, `open-${args.join('-').replaceAll('/', '')}`)
    mkdirSync(open)
    chmodSync(open, 0o777)
    const { code, stdout, stderr } = await runBridge([
      '--socket',
      where.socketPath,
      '--state-dir',
      open,
      'operations',
      ...args,
    ])
    expect(code).toBe(1)
    expect(stdout + stderr).toContain(`${open} has mode 0777`)
    expect(readdirSync(open)).toEqual([])
  },
)

describe('backup', () => {
  test('copies the ledger while a server has it open, and says what it holds', async () => {
    const file = join(place.path, 'copy.sqlite3')
    const ledger = await openLedger(where)
    const { code, stdout, stderr } = await operations('backup', file)
    ledger.close()
    const { size, mode } = statSync(file)
    expect({ code, stderr, mode: mode & 0o777 }).toEqual({ code: 0, stderr: '', mode: 0o600 })
    expect(stdout).toBe(`${file}: 3 operations, ${String(size)} bytes, verified`)
    const copy = new Database(file, { readonly: true })
    expect(copy.prepare('SELECT request_id FROM operations ORDER BY 1').pluck().all()).toEqual([
      'a',
      'b',
      'c',
    ])
    copy.close()
  })

  test('tells the same as JSON', async () => {
    const path = join(place.path, 'json.sqlite3')
    const { stdout } = await operations('backup', path, '--json')
    expect(JSON.parse(stdout)).toEqual({ path, operations: 3, bytes: statSync(path).size })
  })

  test('does not write over a file', async () => {
    const file = join(place.path, 'precious')
    writeFileSync(file, 'precious')
    expect(await operations('backup', file)).toEqual({
      code: 2,
      stdout: '',
      stderr: `codex-thread-bridge: ${file} exists already; see --help`,
    })
    expect(statSync(file).size).toBe(8)
  })

  test('says why it failed, exit 1', async () => {
    const file = join(place.path, 'no', 'copy')
    const { code, stderr } = await operations('backup', file)
    expect([code, stderr.startsWith(`backup_failed: ${file}: ENOENT`)]).toEqual([1, true])
  })
})
