import { readdirSync } from 'node:fs'
import { ledgerPlace, type Receipt } from '@codex-thread-bridge/core/ledger'
import {
  NEWEST_CODEX,
  startMcpClient,
  startWorld,
  tempDir,
  textAt,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeOlderLedger } from './older-ledger.ts'
import { mainPath, runBridge } from './run-bridge.ts'

let world: World
const state = tempDir('ra')

/** A receipt, without markers, of a message that was accepted before all others. */
const accept = (requestId: string, delivery: Receipt['delivery']): void => {
  const ledger = new Database(ledgerPlace({ stateDir: state.path, socketPath: world.socketPath }).path)
  const steps = [{ name: 'turn/start', state: 'answered', at: 1 }]
  const receipt = { requestId, operation: 'send_message_to_thread', family: 'bridge', status: 'accepted' }
  const rest = { startedAt: 1, updatedAt: 1, retrySafe: false, next: 'none', fingerprintVersion: 3 }
  ledger
    .prepare('INSERT INTO operations (request_id, fingerprint, receipt) VALUES (?, ?, ?)')
    .run(requestId, 'f', JSON.stringify({ ...receipt, ...rest, threadId: 'thread', steps, delivery }))
  ledger.close()
}

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
  accept('queued', { state: 'recorded', as: 'queue' })
  accept('settled', { state: 'recorded', as: 'turn' })
  accept('acknowledged', { state: 'acknowledged', as: 'turn' })
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
    'queued  send_message_to_thread  delivered  accepted',
    'acknowledged  send_message_to_thread  delivered  accepted',
    '5 were uncertain: 1 accepted, 1 failed, 3 still uncertain.',
  ])
})

const still = (requestId: string, operation: string, verdict: string, status: string) => ({
  ...{ requestId, operation, verdict, status },
  uncertain: true,
})

test('comes back to those that stay uncertain only, as JSON if asked', async () => {
  const { code, stdout } = await reconcile('--all', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    data: [
      still('older', 'create_thread', 'unknowable', 'outcome_unknown'),
      still('queued', 'send_message_to_thread', 'delivered', 'accepted'),
      still('acknowledged', 'send_message_to_thread', 'delivered', 'accepted'),
    ],
    summary: { uncertain: 3, accepted: 0, failed: 0, stillUncertain: 3 },
    nextCursor: null,
  })
  expect(world.proxy.sent('turn/start')).toHaveLength(1)
  expect(world.proxy.sent('thread/start')).toHaveLength(2)
})

test('looks at so many at most, and goes on where it ended', async () => {
  const seen: string[] = []
  let more: readonly string[] = []
  for (let page = 1; page <= 3; page += 1) {
    const lines = (await reconcile('--all', '--limit', '1', ...more)).stdout.split('\n')
    seen.push(lines[0] ?? '')
    more = lines.at(-1)?.replace('More: ', '').split(' ') ?? []
    expect(lines).toHaveLength(page === 3 ? 2 : 3)
  }
  expect(seen.map((line) => line.split(' ')[0])).toEqual(['older', 'queued', 'acknowledged'])
})

test.each([
  [['--all', '--limit', '0'], '--limit must be a whole number from 1 to 999999 (received "0")'],
  [['--all', '--cursor', 'zzz'], '--cursor must be one that operations reconcile --all printed'],
  [['message', '--limit', '1'], '--limit and --cursor go with --all'],
])('%j is a bad value: one line, exit 2', async (args, reason) => {
  const stderr = `codex-thread-bridge: ${reason}; see --help`
  expect(await reconcile(...args)).toEqual({ code: 2, stdout: '', stderr })
})

test('says when nothing is uncertain', async () => {
  const empty = tempDir('re')
  const { code, stdout } = await runBridge([
    ...['--socket', world.socketPath, '--state-dir', `${empty.path}/state`],
    ...['operations', 'reconcile', '--all'],
  ])
  expect(readdirSync(empty.path)).toEqual([])
  await empty.remove()
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Nothing is uncertain.' })
})
