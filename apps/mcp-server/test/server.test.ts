import { readdirSync, realpathSync } from 'node:fs'
import { at, NEWEST_CODEX, startWorld, tempDir, type World } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { instructions } from '../src/instructions.ts'
import { startBridge, structured, type BridgeProcess } from './bridge-process.ts'
import { runBridge } from './run-bridge.ts'

let world: World
const state = tempDir('st')

beforeAll(async () => {
  world = await startWorld({ version: NEWEST_CODEX })
})
afterAll(async () => {
  await world.close()
  await state.remove()
})

const options = (): string[] => ['--socket', world.socketPath, '--state-dir', state.path]
const start = (...more: string[]): Promise<BridgeProcess> => startBridge([...options(), ...more])
const call = (name: string, args: object = {}) => ({ name, arguments: args })
const events = ({ stderr }: BridgeProcess): readonly unknown[] =>
  stderr
    .split('\n')
    .slice(0, -1)
    .map((line) => at(JSON.parse(line), 'event'))
const receiptOf = async (requestId: string): Promise<unknown> =>
  JSON.parse((await runBridge([...options(), 'operations', 'show', requestId, '--json'])).stdout)

test('writes nothing but JSON-RPC to stdout, and JSON without prompts to stderr, also at log level debug', async () => {
  const bridge = await start('--log-level', 'debug')
  await bridge.ask(1, 'tools/list')
  await bridge.ask(2, 'tools/call', call('get_capabilities'))
  const create = call('create_thread', { request_id: 'purity', cwd: world.cwd, prompt: 'a secret errand' })
  expect(structured(await bridge.ask(3, 'tools/call', create))).toMatchObject({ status: 'accepted' })
  await bridge.ask(4, 'tools/call', call('create_thread', { request_id: 'purity-2', cwd: '/no/such/place' }))
  await bridge.ask(5, 'tools/call', call('list_threads', { secret_errand: true }))
  await bridge.ask(6, 'no/such/method')
  bridge.write('a secret errand, not JSON\n')
  await bridge.ask(7, 'ping')
  bridge.endInput()
  expect(await bridge.exited).toBe(0)
  for (const line of bridge.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
  expect(events(bridge)).toContain('shutting_down')
  expect(events(bridge)).not.toContain('left_open')
  expect(bridge.stderr).not.toMatch(/secret errand/)
})

test('serves ten tools with the instructions of the contract', async () => {
  const bridge = await start()
  expect(at(await bridge.response(0), 'result.instructions')).toBe(instructions)
  const tools = at(await bridge.ask(1, 'tools/list'), 'result.tools')
  expect(Array.isArray(tools) && tools.map((tool) => at(tool, 'name'))).toEqual([
    'create_thread',
    'create_worktree_thread',
    'get_capabilities',
    'get_goal',
    'get_operation',
    'list_operations',
    'list_threads',
    'read_thread',
    'send_message_to_thread',
    'wait_thread',
  ])
  bridge.endInput()
  expect(await bridge.exited).toBe(0)
})

test('serves the chosen plugins only; another tool is unknown: -32602', async () => {
  const bridge = await start('--plugins', 'goals')
  const tools = at(await bridge.ask(1, 'tools/list'), 'result.tools')
  expect(Array.isArray(tools) && tools.map((tool) => at(tool, 'name'))).toEqual(['get_goal'])
  expect(at(await bridge.ask(2, 'tools/call', call('list_threads')), 'error.code')).toBe(-32602)
  bridge.endInput()
  expect(await bridge.exited).toBe(0)
})

test('passes its budgets and the choice of markers on', async () => {
  const bridge = await start('--max-call-seconds', '7', '--max-result-bytes', '5000', '--no-delivery-markers')
  const answer = structured(await bridge.ask(1, 'tools/call', call('get_capabilities')))
  expect(at(answer, 'limits')).toEqual({ callMs: 7_000, resultBytes: 5_000 })
  expect(at(answer, 'capabilities.deliveryMarkers')).toBe(false)
  bridge.endInput()
  expect(await bridge.exited).toBe(0)
})

test('passes the ceiling on', async () => {
  const ceiling = ['--max-sandbox', 'workspace-write', '--no-network', '--allow-escalation']
  const bridge = await start(...ceiling, '--allow-root', world.cwd, '--allow-root', state.path)
  const answer = structured(await bridge.ask(1, 'tools/call', call('get_capabilities')))
  expect(at(answer, 'ceiling')).toEqual({
    maxSandbox: 'workspace-write',
    allowRoots: [realpathSync(world.cwd), realpathSync(state.path)],
    network: false,
    escalation: true,
  })
  const full = call('create_thread', { request_id: 'full', cwd: world.cwd, sandbox: 'danger-full-access' })
  expect(at(await bridge.ask(2, 'tools/call', full), 'result.isError')).toBe(true)
  bridge.endInput()
  expect(await bridge.exited).toBe(0)
})

test('ends at SIGTERM, SIGINT and SIGHUP while it is idle with its stdin open', async () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    const bridge = await start()
    await bridge.ask(1, 'tools/call', call('list_threads'))
    bridge.signal(signal)
    expect(await bridge.exited).toBe(0)
    expect(bridge.stderr).toBe('')
  }
})

test('answers a mutation that runs when stdin ends', async () => {
  const bridge = await start()
  const held = world.proxy.on({ kind: 'response', method: 'thread/start' }, 'withhold')
  bridge.send({
    id: 1,
    method: 'tools/call',
    params: call('create_thread', { request_id: 'ended', cwd: world.cwd }),
  })
  await held.waitFired()
  bridge.endInput()
  held.remove()
  expect(await bridge.exited).toBe(0)
  expect(structured(await bridge.response(1))).toMatchObject({ requestId: 'ended', status: 'accepted' })
})

test('lets a mutation that runs at SIGTERM finish and save', async () => {
  const bridge = await start()
  const held = world.proxy.on({ kind: 'response', method: 'thread/start' }, 'withhold')
  bridge.send({
    id: 1,
    method: 'tools/call',
    params: call('create_thread', { request_id: 'stopped', cwd: world.cwd }),
  })
  await held.waitFired()
  bridge.signal('SIGTERM')
  held.remove()
  expect(await bridge.exited).toBe(0)
  expect(await receiptOf('stopped')).toMatchObject({ status: 'accepted', durable: true })
})

test('leaves a mutation that does not end in 5 s to be read as interrupted', async () => {
  const bridge = await start()
  const held = world.proxy.on({ kind: 'response', method: 'thread/start' }, 'drop')
  bridge.send({
    id: 1,
    method: 'tools/call',
    params: call('create_thread', { request_id: 'cut', cwd: world.cwd }),
  })
  await held.waitFired()
  bridge.signal('SIGTERM')
  expect(await bridge.exited).toBe(0)
  expect(await receiptOf('cut')).toMatchObject({ status: 'outcome_unknown', next: 'reconcile' })
})

test('needs neither App Server nor ledger to start, and makes no state by reading', async () => {
  const empty = tempDir('st')
  const bridge = await startBridge(['--socket', '/nowhere/app.sock', '--state-dir', empty.path])
  const { result } = await bridge.ask(1, 'tools/call', call('list_threads'))
  expect(at(result, 'isError')).toBe(true)
  expect(JSON.stringify(result)).toContain('socket_absent')
  bridge.endInput()
  expect(await bridge.exited).toBe(0)
  expect(readdirSync(empty.path)).toEqual([])
  await empty.remove()
})
