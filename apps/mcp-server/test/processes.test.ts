import { fileURLToPath } from 'node:url'
import {
  startMcpClient,
  startWorld,
  tempDir,
  testedVersions,
  type McpClientProcess,
  type TempDir,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const SERVER = fileURLToPath(new URL('../dist/main.js', import.meta.url))

describe.each(testedVersions)('bridge processes on one ledger, App Server %s', (version) => {
  let world: World
  let state: TempDir
  let bridges: McpClientProcess[]

  beforeEach(async () => {
    bridges = []
    state = tempDir('state')
    world = await startWorld({ version })
  })
  afterEach(async () => {
    await Promise.all(bridges.map((bridge) => bridge.close()))
    await world?.close()
    await state.remove()
  })

  const startServer = async (): Promise<McpClientProcess> => {
    const bridge = await startMcpClient({
      command: process.execPath,
      args: [SERVER, '--socket', world.socketPath, '--state-dir', state.path],
      env: { HOME: world.home.path },
    })
    bridges.push(bridge)
    return bridge
  }
  const started = (): number => world.proxy.reached('thread/start').length

  it('dispatch one id once, whoever asks first', async () => {
    const [one, two] = [await startServer(), await startServer()]
    const args = { request_id: 'shared', cwd: world.cwd, prompt: 'once' }
    const answers = await Promise.all(
      [one, two, one, two].map((bridge) => bridge.call('create_thread', args)),
    )
    expect(answers.map(({ isError }) => isError)).toEqual([false, false, false, false])
    expect(started()).toBe(1)
    expect(answers.filter(({ structured }) => structured?.replayed === false)).toHaveLength(1)
    const settled = await two.call('get_operation', { request_id: 'shared' })
    expect(settled.structured).toMatchObject({ status: 'accepted', delivery: { state: 'recorded' } })
  })

  it('replay after the first one was killed', async () => {
    const first = await startServer()
    const args = { request_id: 'kept', cwd: world.cwd, prompt: 'once', title: 'Kept' }
    const before = await first.call('create_thread', args)
    await first.kill()
    const second = await startServer()
    const after = await second.call('create_thread', args)
    expect(after.structured).toEqual({ ...before.structured, replayed: true })
    expect(started()).toBe(1)
  })

  it('find the thread of a bridge that was killed before its answer came', async () => {
    const first = await startServer()
    const rule = world.proxy.on(
      { direction: 'to-client', kind: 'response', method: 'thread/start' },
      'withhold',
    )
    const args = { request_id: 'orphan', cwd: world.cwd, prompt: 'never sent' }
    const lost = first.call('create_thread', args).catch((error: unknown) => error)
    await rule.waitFired()
    await first.kill()
    await lost
    rule.remove()

    const second = await startServer()
    expect((await second.call('create_thread', args)).structured).toMatchObject({
      replayed: true,
      status: 'outcome_unknown',
      execution: 'interrupted',
      next: 'reconcile',
      steps: [{ name: 'thread/start', state: 'intended' }],
    })
    const found = await second.call('get_operation', { request_id: 'orphan', reconcile: true })
    expect(found.structured).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'not_completed' },
      reconciliation: { verdict: 'created_incomplete' },
    })
    expect(found.structured?.threadId).toBeTypeOf('string')
    expect(started()).toBe(1)
  })

  it('find the message of a bridge that was killed before its answer came', async () => {
    const first = await startServer()
    const rule = world.proxy.on(
      { direction: 'to-client', kind: 'response', method: 'turn/start' },
      'withhold',
    )
    const args = { request_id: 'orphan', cwd: world.cwd, prompt: 'sent once' }
    const lost = first.call('create_thread', args).catch((error: unknown) => error)
    await rule.waitFired()
    await first.kill()
    await lost
    rule.remove()

    const second = await startServer()
    await world.model.waitForRequests(1)
    const found = await second.call('get_operation', { request_id: 'orphan', reconcile: true })
    expect(found.structured).toMatchObject({
      status: 'accepted',
      next: 'none',
      delivery: { state: 'recorded', as: 'turn' },
      reconciliation: { verdict: 'created' },
    })
    expect((await second.call('create_thread', args)).structured).toMatchObject({
      replayed: true,
      status: 'accepted',
    })
    expect(world.model.requests).toHaveLength(1)
  })

  it('show a running operation of another process as it stands', async () => {
    const [one, two] = [await startServer(), await startServer()]
    const rule = world.proxy.on(
      { direction: 'to-client', kind: 'response', method: 'thread/start' },
      'withhold',
    )
    const args = { request_id: 'slow', cwd: world.cwd }
    const running = one.call('create_thread', args)
    await rule.waitFired()
    expect((await two.call('create_thread', args)).structured).toMatchObject({
      replayed: true,
      status: 'in_progress_or_unknown',
      execution: 'running',
    })
    rule.remove()
    expect((await running).structured).toMatchObject({ status: 'accepted', replayed: false })
    expect(started()).toBe(1)
  })
})
