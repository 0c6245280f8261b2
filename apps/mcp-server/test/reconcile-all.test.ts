import {
  NEWEST_CODEX,
  startMcpClient,
  startWorld,
  tempDir,
  textAt,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeOlderLedger } from './older-ledger.ts'
import { mainPath, runBridge } from './run-bridge.ts'

let world: World
const state = tempDir('ra')

const options = (): string[] => ['--socket', world.socketPath, '--state-dir', state.path]
const reconcile = (...args: string[]) => runBridge([...options(), 'operations', 'reconcile', ...args])

beforeAll(async () => {
  world = await startWorld({ version: NEWEST_CODEX })
  writeOlderLedger({ stateDir: state.path, socketPath: world.socketPath }, [
    { requestId: 'older', fingerprint: 'f', members: { status: 'outcome_unknown' } },
  ])
  const client = await startMcpClient({ command: process.execPath, args: [mainPath, ...options()] })
  const created = await client.call('create_thread', { request_id: 'known', cwd: world.cwd })
  const thread_id = textAt(created.structured, 'threadId')
  world.proxy.on({ direction: 'to-server', kind: 'request', method: 'turn/start' }, { cut: 'after' })
  await client.call('send_message_to_thread', { request_id: 'message', thread_id, message: 'hello' })
  world.proxy.on({ direction: 'to-server', kind: 'request', method: 'thread/start' }, { cut: 'after' })
  await client.call('create_thread', { request_id: 'creation', cwd: world.cwd, prompt: 'hello' })
  await client.close()
})
afterAll(async () => {
  await world.close()
  await state.remove()
})

test('needs an id or --all, and not both', async () => {
  const refused = { code: 2, stdout: '', stderr: expect.stringContaining('needs an ID or --all') as unknown }
  expect(await reconcile()).toEqual(refused)
  expect(await reconcile('message', '--all')).toEqual(refused)
})

test('looks at every uncertain receipt, newest first, and says what became of each', async () => {
  const { code, stdout, stderr } = await reconcile('--all')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.split('\n')).toEqual([
    'creation  create_thread  created_incomplete  failed',
    'message  send_message_to_thread  delivered  accepted',
    'older  create_thread  unknowable  outcome_unknown',
    '3 were uncertain: 1 accepted, 1 failed, 1 still uncertain.',
  ])
})

test('comes back to those that stay uncertain only, as JSON if asked', async () => {
  const { code, stdout } = await reconcile('--all', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    data: [
      { requestId: 'older', operation: 'create_thread', verdict: 'unknowable', status: 'outcome_unknown' },
    ],
    summary: { uncertain: 1, accepted: 0, failed: 0, stillUncertain: 1 },
  })
  expect(world.proxy.sent('turn/start')).toHaveLength(1)
  expect(world.proxy.sent('thread/start')).toHaveLength(2)
})

test('says when nothing is uncertain', async () => {
  const empty = tempDir('re')
  const { code, stdout } = await runBridge([
    ...['--socket', world.socketPath, '--state-dir', `${empty.path}/state`],
    ...['operations', 'reconcile', '--all'],
  ])
  await empty.remove()
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Nothing is uncertain.' })
})
