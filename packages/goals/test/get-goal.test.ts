import { createHost, type Host } from '@codex-thread-bridge/core/host'
import { cannedAppServer, memoryLedger } from '@codex-thread-bridge/core/testing'
import { createAppServer } from '@codex-thread-bridge/core/transport'
import { createGoalsPlugin } from '@codex-thread-bridge/goals'
import { type RawClient, startWorld, testedVersions, type World } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

describe.each(testedVersions)('get_goal on Codex %s', (version) => {
  let world: World
  let client: RawClient
  let host: Host

  beforeAll(async () => {
    world = await startWorld({ version })
    client = await world.openClient()
    const appServer = createAppServer({
      socketPath: world.socketPath,
      version: '0.0.0',
      log: () => undefined,
    })
    host = createHost({ appServer, ledger: memoryLedger() })
    host.register(createGoalsPlugin())
    await host.ready()
  })
  afterAll(async () => {
    await host.close()
    await world.close()
  })

  const goalOf = (threadId: string) => host.call('get_goal', { thread_id: threadId })

  it('returns the goal as the App Server has it', async () => {
    const threadId = await client.startThread({ cwd: world.cwd })
    const objective = 'x'.repeat(4_000)
    await client.call('thread/goal/set', { threadId, objective, status: 'paused' })
    const answer = await goalOf(threadId)
    expect(answer).toEqual(await client.call('thread/goal/get', { threadId }))
    expect(answer).toMatchObject({ goal: { threadId, objective, status: 'paused' } })
  })

  it('returns null for a thread without a goal', async () => {
    const threadId = await client.startThread({ cwd: world.cwd })
    await client.runTurn(threadId, 'hello')
    expect(await goalOf(threadId)).toEqual({ goal: null })
  })

  it('says that a thread is unknown', async () => {
    const answer = goalOf('01900000-0000-7000-8000-000000000000')
    await expect(answer).rejects.toMatchObject({ code: 'unknown_thread', field: 'thread_id' })
  })

  it('sends nothing but reads', () => {
    const sent = world.proxy.log.filter(
      ({ kind, direction }) => kind === 'request' && direction === 'to-server',
    )
    expect(new Set(sent.map(({ method }) => method))).toEqual(new Set(['initialize', 'thread/goal/get']))
  })
})

it('get_goal shortens an objective that is too long, and says so', async () => {
  const goal = { objective: 'y'.repeat(5_000), status: 'active' }
  const host = createHost({
    appServer: cannedAppServer({ 'thread/goal/get': { goal } }),
    ledger: memoryLedger(),
  })
  host.register(createGoalsPlugin())
  await host.ready()
  expect(await host.call('get_goal', { thread_id: 'thread-1' })).toEqual({
    truncated: true,
    truncatedCount: 1,
    note: '1 text(s) are shortened to 4,000 characters.',
    goal: {
      objective: `${'y'.repeat(4_000)}\n[shortened: the original has 5,000 characters]`,
      status: 'active',
    },
  })
})
