import { readdirSync } from 'node:fs'
import { openLedger } from '@codex-thread-bridge/core/ledger'
import {
  at,
  NEWEST_CODEX,
  startMcpClient,
  startWorld,
  tempDir,
  textAt,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mainPath, runBridge } from './run-bridge.ts'

let world: World
let threadId: string
const state = tempDir('st')

const options = (): string[] => ['--socket', world.socketPath, '--state-dir', state.path]
const operations = (...args: string[]) => runBridge([...options(), 'operations', ...args])

beforeAll(async () => {
  world = await startWorld({ version: NEWEST_CODEX })
  const client = await startMcpClient({ command: process.execPath, args: [mainPath, ...options()] })
  const created = await client.call('create_thread', {
    request_id: 'create-1',
    cwd: world.cwd,
    title: 'Colours',
  })
  threadId = textAt(created.structured, 'threadId')
  world.proxy.on({ direction: 'to-server', kind: 'request', method: 'turn/start' }, { cut: 'after' })
  const lost = await client.call('send_message_to_thread', {
    request_id: 'lost-1',
    thread_id: threadId,
    message: 'hello',
  })
  expect(lost.structured).toMatchObject({ status: 'outcome_unknown' })
  await client.close()
})
afterAll(async () => {
  await world.close()
  await state.remove()
})

test('list shows newest first, one line an operation', async () => {
  const { code, stdout, stderr } = await operations('list')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) as unknown
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['STARTED (UTC)', 'STATUS', 'OPERATION', 'THREAD', 'REQUEST'],
    [time, 'outcome_unknown', 'send_message_to_thread', threadId, 'lost-1'],
    [time, 'accepted', 'create_thread', threadId, 'create-1'],
  ])
})

test('list takes status, thread, limit and cursor', async () => {
  const idsOf = (text: string): unknown => {
    const data = at(JSON.parse(text), 'data')
    return Array.isArray(data) && data.map((row) => at(row, 'requestId'))
  }
  expect(idsOf((await operations('list', '--json', '--status', 'accepted')).stdout)).toEqual(['create-1'])
  expect(idsOf((await operations('list', '--json', '--thread', 'other')).stdout)).toEqual([])
  const first = await operations('list', '--json', '--limit', '1')
  expect(idsOf(first.stdout)).toEqual(['lost-1'])
  const cursor = textAt(JSON.parse(first.stdout), 'nextCursor')
  expect(idsOf((await operations('list', '--json', '--cursor', cursor)).stdout)).toEqual(['create-1'])
  const plain = await operations('list', '--limit', '1')
  expect(plain.stdout.split('\n').at(-1)).toBe(`More: --cursor ${cursor}`)
})

test('list says when there is nothing', async () => {
  expect((await operations('list', '--thread', 'other')).stdout).toBe('No operations.')
})

test('where there is no ledger list shows nothing, the others say so, and none is made', async () => {
  const none = tempDir('no')
  const stateDir = `${none.path}/state`
  const look = (...args: string[]) =>
    runBridge(['--socket', world.socketPath, '--state-dir', stateDir, 'operations', ...args])
  expect(await look('list')).toEqual({ code: 0, stdout: 'No operations.', stderr: '' })
  expect(JSON.parse((await look('list', '--json')).stdout)).toEqual({ data: [], nextCursor: null })
  for (const args of [['show', 'a'], ['reconcile', 'a'], ['export']]) {
    const { code, stdout, stderr } = await look(...args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^ledger_unavailable: There is no ledger at .*\/state\/operations-/)
  }
  expect(readdirSync(none.path)).toEqual([])
  await none.remove()
})

test('where only other App Servers have a ledger list and reconcile --all say so, as the others do', async () => {
  for (const args of [['list'], ['reconcile', '--all'], ['show', 'create-1']]) {
    const look = ['--socket', '/nowhere/app-server.sock', '--state-dir', state.path, 'operations', ...args]
    const { code, stdout, stderr } = await runBridge(look)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      /There is no ledger at .*\. Of other App Servers there are: operations-[0-9a-f]{16}\.sqlite3\./,
    )
  }
})

test('what controls a terminal is shown as its code', async () => {
  const requestId = 'red\u001b[31m\u009b1m\nnext\u202e'
  const shown = 'red\\u{1b}[31m\\u{9b}1m\\u{a}next\\u{202e}'
  const stateDir = `${state.path}/escapes`
  const look = (...args: string[]) =>
    runBridge(['--socket', world.socketPath, '--state-dir', stateDir, 'operations', ...args])
  const ledger = await openLedger({ stateDir, socketPath: world.socketPath })
  const [startedAt, updatedAt] = [1, 1]
  const receipt = { operation: 'create_thread', status: 'outcome_unknown', next: 'reconcile' } as const
  ledger.claim({
    fingerprint: 'f',
    receipt: { requestId, ...receipt, startedAt, updatedAt, retrySafe: false, steps: [], title: requestId },
  })
  ledger.close()
  const listed = await look('list')
  expect(listed.stdout.split('\n')[1]).toMatch(/  \S+$/)
  expect(listed.stdout.endsWith(`  ${shown}`)).toBe(true)
  expect((await look('show', requestId)).stdout).toContain(`\ntitle      ${shown}`)
  expect((await look('reconcile', '--all')).stdout.split('  ')[0]).toBe(shown)
  expect((await look('show', `${requestId}\u0007`)).stderr).not.toMatch(/[\u0000-\u0009\u001b\u009b\u202e]/)
})

test.each([
  [['list', '--limit', '0'], '`limit` must be >= 1 (received 0).'],
  [['list', '--limit', 'many'], '`limit` must be an integer (received "many").'],
  [['list', '--cursor', 'zzz'], 'The cursor is not one that list_operations handed out.'],
])('%j is a bad value: one line, exit 2', async (args, reason) => {
  const { code, stdout, stderr } = await operations(...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toBe(`codex-thread-bridge: ${reason}; see --help`)
})

test('show prints a receipt to read, and all of it as JSON', async () => {
  const plain = await operations('show', 'create-1')
  const rows = plain.stdout.split('\n').map((line) => line.split(/ {2,}/))
  expect(rows.slice(0, 4)).toEqual([
    ['request', 'create-1'],
    ['operation', 'create_thread'],
    ['status', 'accepted'],
    ['next', 'none'],
  ])
  expect(rows).toContainEqual(['thread', threadId])
  expect(rows).toContainEqual(['title', 'Colours'])
  const { stdout } = await operations('show', 'create-1', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ requestId: 'create-1', threadId, durable: true })
})

test('an unknown id is an error with its code, exit 1', async () => {
  const { code, stdout, stderr } = await operations('show', 'nobody')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^unknown_request: No receipt for request_id "nobody"\. .*$/)
  const asJson = await operations('show', 'nobody', '--json')
  expect({ code: asJson.code, stderr: asJson.stderr }).toEqual({ code: 1, stderr: '' })
  expect(at(JSON.parse(asJson.stdout), 'error.code')).toBe('unknown_request')
})

test('reconcile finds a message whose answer was lost, and keeps what it found', async () => {
  const { code, stdout } = await operations('reconcile', 'lost-1', '--json')
  expect(code).toBe(0)
  const found = { status: 'accepted', next: 'none', reconciliation: { verdict: 'delivered' } }
  expect(JSON.parse(stdout)).toMatchObject(found)
  expect(JSON.parse((await operations('show', 'lost-1', '--json')).stdout)).toMatchObject(found)
  expect(world.proxy.sent('turn/start')).toHaveLength(1)
})
