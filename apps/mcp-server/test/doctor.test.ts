import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { defaultStateDir, ledgerPlace, openLedger } from '@codex-thread-bridge/core/ledger'
import { at, startWorld, tempDir, testedVersions, type World } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { writeOlderLedger } from './older-ledger.ts'
import { runBridge } from './run-bridge.ts'

interface Check {
  readonly name: string
  readonly state: string
  readonly message: string
  readonly next?: string
}

const place = tempDir('dr')
afterAll(() => place.remove())

let stateDir: string
let count = 0
beforeEach(() => {
  count += 1
  stateDir = join(place.path, `state-${String(count)}`)
})

/** doctor --json: exit code, verdict and the checks by name. */
const examine = async (socket: string, env: Readonly<Record<string, string>> = {}) => {
  const args = ['doctor', '--json', '--socket', socket, '--state-dir', stateDir]
  const { code, stdout, stderr } = await runBridge(args, { env })
  const report: unknown = JSON.parse(stdout)
  const checks = at(report, 'checks') as readonly Check[]
  const check = (name: string): Check | undefined => checks.find((found) => found.name === name)
  return { code, stderr, ok: at(report, 'ok'), checks, check }
}

describe.each(testedVersions)('with App Server %s', (version) => {
  let world: World
  beforeAll(async () => {
    world = await startWorld({ version })
  })
  afterAll(() => world.close())

  test('everything is ok, and nothing is made or changed', async () => {
    const { code, ok, stderr, checks, check } = await examine(world.socketPath)
    expect(checks.filter(({ state }) => state !== 'ok')).toEqual([])
    expect({ code, ok, stderr }).toEqual({ code: 0, ok: true, stderr: '' })
    expect(check('socket')?.message).toBe(world.socketPath)
    expect(check('version')?.message).toBe(`Codex ${version}; the tested versions are 0.153.4 to 0.171.0`)
    expect(check('home')?.message).toBe(world.home.path)
    expect(existsSync(stateDir)).toBe(false)
    const sent = world.proxy.log.filter(({ kind }) => kind === 'request').map(({ method }) => method)
    expect(sent.filter((method) => /start|resume|set|update|move|add/.test(method ?? ''))).toEqual([])
  })

  test("another CODEX_HOME than the App Server's is a warning", async () => {
    const { code, check } = await examine(world.socketPath, { CODEX_HOME: '/elsewhere' })
    expect(code).toBe(0)
    expect(check('home')).toEqual({
      name: 'home',
      state: 'warn',
      message: `the App Server's CODEX_HOME is ${world.home.path}, this environment's is /elsewhere`,
      next: `export CODEX_HOME=${world.home.path}`,
    })
  })

  test('a killed App Server leaves a stale socket, and the command to start it again', async () => {
    await world.appServer.kill()
    const path = world.appServer.socketPath
    const { code, ok, check } = await examine(path)
    expect({ code, ok }).toEqual({ code: 1, ok: false })
    expect(check('socket')).toMatchObject({
      state: 'fail',
      message: expect.stringContaining('(socket_stale)') as unknown,
      next: `codex app-server --listen unix://${path}`,
    })
  })
})

test('an absent socket fails, with the command that starts an App Server', async () => {
  const path = join(place.path, 'none.sock')
  const { code, check, checks } = await examine(path)
  expect(code).toBe(1)
  expect(check('socket')).toEqual({
    name: 'socket',
    state: 'fail',
    message: `There is no socket at ${path}. (socket_absent)`,
    next: `codex app-server --listen unix://${path}`,
  })
  expect(checks.map(({ name }) => name)).toEqual([
    'bridge',
    'socket',
    'home',
    'ledger',
    'file system',
    'disk',
    'sqlite',
  ])
})

test('what controls a terminal is shown as its code, in the next step too', async () => {
  const path = join(place.path, 'red\u001b[31m.sock')
  const { stdout } = await runBridge(['doctor', '--socket', path, '--state-dir', stateDir])
  expect(stdout).toContain(
    `\n      next: codex app-server --listen unix://'${join(place.path, 'red\\u{1b}[31m.sock')}'\n`,
  )
  expect(stdout).not.toContain('\u001b')
})

test('a file in the place of the socket fails, and says what it is', async () => {
  const path = join(place.path, 'file.sock')
  writeFileSync(path, 'not a socket')
  const { code, check } = await examine(path)
  expect(code).toBe(1)
  expect(check('socket')).toMatchObject({
    state: 'fail',
    message: `${path} is a file, not a socket. (socket_wrong_type)`,
    next: `ls -l ${path} # then pass --socket with the App Server's own socket`,
  })
})

test('a socket of something else fails', async () => {
  const path = join(place.path, 'other.sock')
  const server = createServer((socket) => socket.end('HTTP/1.1 404 Not Found\r\n\r\n'))
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const { code, check } = await examine(path)
  server.close()
  expect(code).toBe(1)
  expect(check('socket')).toMatchObject({
    state: 'fail',
    message: expect.stringContaining('(socket_not_websocket)') as unknown,
  })
})

describe('the ledger', () => {
  const socket = join(place.path, 'none.sock')
  const ledgerFile = (): string => ledgerPlace({ stateDir, socketPath: socket }).path

  test('is expected in the default place when none is given', async () => {
    const { stdout } = await runBridge(['doctor', '--json', '--socket', socket], {
      env: { HOME: place.path, XDG_STATE_HOME: join(place.path, 'xdg') },
    })
    const expected = ledgerPlace({
      stateDir: defaultStateDir({ XDG_STATE_HOME: join(place.path, 'xdg') }, place.path),
      socketPath: socket,
    }).path
    expect(stdout).toContain(`${expected} (made by the first mutation)`)
  })

  test('in an open directory fails, with the chmod', async () => {
    mkdirSync(stateDir)
    chmodSync(stateDir, 0o755)
    const { check } = await examine(socket)
    expect(check('ledger')).toEqual({
      name: 'ledger',
      state: 'fail',
      message: `${stateDir} is open to others`,
      next: `chmod 700 ${stateDir}`,
    })
  })

  test('in a state directory that cannot be one fails, with what stands there', async () => {
    const next = `ls -ld ${stateDir} # then --state-dir`
    symlinkSync(join(place.path, 'nowhere'), stateDir)
    const message = `${stateDir} is a link that leads to no directory`
    expect((await examine(socket)).check('ledger')).toEqual({ name: 'ledger', state: 'fail', message, next })
    rmSync(stateDir)
    writeFileSync(stateDir, '')
    const file = `${stateDir} is no directory`
    expect((await examine(socket)).check('ledger')).toMatchObject({ state: 'fail', message: file })
    rmSync(stateDir)
  })

  test('that others can read fails, with the chmod', async () => {
    mkdirSync(stateDir, { mode: 0o700 })
    writeFileSync(ledgerFile(), '')
    chmodSync(ledgerFile(), 0o644)
    const { check } = await examine(socket)
    expect(check('ledger')).toMatchObject({ state: 'fail', next: `chmod 600 ${ledgerFile()}` })
  })

  test('that is a link fails', async () => {
    mkdirSync(stateDir, { mode: 0o700 })
    symlinkSync('/dev/null', ledgerFile())
    const { check } = await examine(socket)
    expect(check('ledger')).toMatchObject({
      state: 'fail',
      message: `${ledgerFile()} is no plain file`,
    })
  })

  test('that is there and private is ok, and stays as it is', async () => {
    mkdirSync(stateDir, { mode: 0o700 })
    writeFileSync(ledgerFile(), '', { mode: 0o600 })
    const { check } = await examine(socket)
    expect(check('ledger')).toMatchObject({ state: 'ok', message: `${ledgerFile()}, 0.0 MiB` })
    expect(readdirSync(stateDir)).toHaveLength(1)
  })

  const filled = async (): Promise<void> => {
    const ledger = await openLedger({ stateDir, socketPath: socket })
    for (let i = 0; i < 60; i++) {
      const requestId = `request-${String(i)}`
      const times = { startedAt: i, updatedAt: i }
      const receipt = { requestId, operation: 'create_thread', status: 'accepted', next: 'none' } as const
      ledger.claim({
        fingerprint: 'f',
        receipt: { ...receipt, ...times, retrySafe: false, steps: [], padding: 'x'.repeat(4_000) },
      })
    }
    ledger.close()
  }

  test('with receipts is read through, and left as it is', async () => {
    await filled()
    const look = () => [readdirSync(stateDir), readFileSync(ledgerFile())]
    const before = look()
    const { check } = await examine(socket)
    expect(check('integrity')).toEqual({ name: 'integrity', state: 'ok', message: 'nothing wrong' })
    expect(look()).toEqual(before)
  })

  test('with which one of another name cannot be joined fails, and both stay as they are', async () => {
    const target = join(place.path, 'codex-daemon-1000', 'a1b2')
    const link = join(place.path, 'link.sock')
    symlinkSync(target, link)
    const of = { stateDir, socketPath: link }
    const own = writeOlderLedger(of, [{ requestId: 'twice', fingerprint: 'f' }])
    const other = writeOlderLedger(of, [{ requestId: 'twice', fingerprint: 'g' }], target)
    const look = () => [readdirSync(stateDir), readFileSync(own), readFileSync(other)]
    const before = look()
    const { code, check } = await examine(link)
    expect(code).toBe(1)
    expect(check('import')).toEqual({
      name: 'import',
      state: 'fail',
      message: `request_id "twice" stands in ${own} and in ${other} with different contents. (ledger_import_conflict)`,
      next: `ls -l ${own} ${other} # keep both, and move the one that you do not go by out of there`,
    })
    rmSync(other)
    writeOlderLedger(of, [{ requestId: 'once', fingerprint: 'g' }], target)
    expect((await examine(link)).check('import')).toMatchObject({ state: 'ok' })
    rmSync(other)
    expect((await examine(link)).check('import')).toBeUndefined()
    expect([readdirSync(stateDir), readFileSync(own)]).toEqual([[basename(own)], before[1]])
  })

  test('that is damaged fails, with what to do about it', async () => {
    await filled()
    const bytes = readFileSync(ledgerFile())
    bytes.fill(0xa5, 4_096 * 20)
    writeFileSync(ledgerFile(), bytes)
    const { code, check } = await examine(socket)
    expect(code).toBe(1)
    expect(check('integrity')).toMatchObject({
      state: 'fail',
      next: `mv ${ledgerFile()} ${ledgerFile()}.damaged # then copy a backup there; without one its receipts are forgotten`,
    })
  })

  test('that is no ledger fails', async () => {
    mkdirSync(stateDir, { mode: 0o700 })
    writeFileSync(ledgerFile(), 'not a database, but long enough to look like one\n'.repeat(50), {
      mode: 0o600,
    })
    const { check } = await examine(socket)
    expect(check('integrity')).toMatchObject({
      state: 'fail',
      message: expect.stringContaining('(ledger_corrupt)') as unknown,
    })
  })

  test('whose write-ahead log others can read fails, with the chmod', async () => {
    await filled()
    writeFileSync(`${ledgerFile()}-wal`, '', { mode: 0o600 })
    chmodSync(`${ledgerFile()}-wal`, 0o644)
    const { check } = await examine(socket)
    expect(check('ledger')).toMatchObject({ state: 'fail', next: `chmod 600 ${ledgerFile()}-wal` })
    expect(check('integrity')).toBeUndefined()
  })
})

test('plain output has a line for each check and the next step under what is wrong', async () => {
  const path = join(place.path, 'none.sock')
  const { code, stdout } = await runBridge(['doctor', '--socket', path, '--state-dir', stateDir])
  expect(code).toBe(1)
  const lines = stdout.split('\n')
  expect(lines[1]).toBe(`fail  socket       There is no socket at ${path}. (socket_absent)`)
  expect(lines[2]).toBe(`      next: codex app-server --listen unix://${path}`)
})
