import { OLDEST_CODEX, startWorld, testedVersions, type World } from '@codex-thread-bridge/test-fixtures'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from './support.ts'
import { client, loss, rejection, soon } from './support.ts'

const input = [{ type: 'text' as const, text: 'hello' }]
const never = { approvalPolicy: 'never', ephemeral: false, sandbox: 'read-only' }

describe.each(testedVersions)('a connection to the App Server %s', (version) => {
  let world: World
  beforeAll(async () => {
    world = await startWorld({ version })
  })
  afterEach(() => world.proxy.clear())
  afterAll(() => world.close())

  const start = async (appServer: Client) =>
    (await appServer.actions.call('thread/start', { ...never, cwd: world.cwd })).thread.id

  test('is opened by the first call, once for calls that come together', async () => {
    const before = world.proxy.connections
    const appServer = client(world.socketPath)
    expect(world.proxy.connections).toBe(before)
    await Promise.all([
      appServer.reads.call('thread/loaded/list', {}),
      appServer.reads.connect(),
      appServer.reads.call('thread/list', {}),
    ])
    expect(world.proxy.connections).toBe(before + 1)
    await appServer.actions.connect()
    expect(world.proxy.connections).toBe(before + 2)
  })

  test('answers 300 parallel calls each with its own', async () => {
    const appServer = client(world.socketPath)
    const ids = await Promise.all(Array.from({ length: 6 }, () => start(appServer)))
    const asked = Array.from({ length: 300 }, (_, n) => ids[n % ids.length] ?? '')
    const read = await Promise.all(asked.map((threadId) => appServer.reads.call('thread/read', { threadId })))
    expect(read.map(({ thread }) => thread.id)).toEqual(asked)
  })

  test('gives no id out twice, whatever the connection', async () => {
    const from = world.proxy.log.length
    const appServer = client(world.socketPath)
    await Promise.all([appServer.reads.call('thread/list', {}), appServer.actions.call('thread/list', {})])
    const lost = Promise.all([loss(appServer.reads), loss(appServer.actions)])
    world.proxy.cut()
    await lost
    await Promise.all([appServer.reads.call('thread/list', {}), appServer.actions.call('thread/list', {})])
    const ids = world.proxy.log
      .slice(from)
      .filter(({ kind }) => kind === 'request')
      .map(({ id }) => Number(id))
    expect(ids.toSorted((a, b) => a - b)).toEqual([...new Set(ids)].toSorted((a, b) => a - b))
    expect(ids).toHaveLength(8)
  })

  test('sends a read that was in flight at a loss once more', async () => {
    const appServer = client(world.socketPath)
    const threadId = await start(appServer)
    const before = world.proxy.sent('thread/read').length
    world.proxy.on({ method: 'thread/read', kind: 'request' }, { cut: 'before' })
    expect(await appServer.reads.call('thread/read', { threadId })).toMatchObject({
      thread: { id: threadId },
    })
    expect(world.proxy.sent('thread/read')).toHaveLength(before + 2)
    expect(appServer.logged('transport.repeated')).toEqual([
      { connection: 'reads', method: 'thread/read', after: 'lost' },
    ])
  })

  test('gives a read up at the second loss', async () => {
    const appServer = client(world.socketPath)
    const before = world.proxy.sent('thread/list').length
    world.proxy.on({ method: 'thread/list', kind: 'request', direction: 'to-server' }, { cut: 'before' })
    world.proxy.on(
      { method: 'thread/list', kind: 'request', direction: 'to-server', nth: 2 },
      { cut: 'after' },
    )
    expect(await rejection(appServer.reads.call('thread/list', {}))).toMatchObject({
      code: 'connection_lost',
      delivery: 'unknown',
      message: 'The connection ended before thread/list was answered.',
    })
    expect(world.proxy.sent('thread/list')).toHaveLength(before + 2)
  })

  test('never sends a mutation twice: carried out or not, its outcome is unknown', async () => {
    const appServer = client(world.socketPath)
    const threadId = await start(appServer)
    for (const cut of ['before', 'after'] as const) {
      const before = world.proxy.sent('turn/start').length
      const rule = world.proxy.on({ method: 'turn/start', kind: 'request' }, { cut })
      expect(await rejection(appServer.actions.call('turn/start', { threadId, input }))).toMatchObject({
        code: 'connection_lost',
        delivery: 'unknown',
        next: 'same_request_id',
      })
      rule.remove()
      await appServer.actions.call('thread/read', { threadId })
      expect(world.proxy.sent('turn/start')).toHaveLength(before + 1)
    }
  })

  test('reports a time-out as unknown and hands on the answer that comes later', async () => {
    const appServer = client(world.socketPath, { timeouts: { 'thread/name/set': 50 } })
    const threadId = await start(appServer)
    await appServer.actions.call('thread/section/move', { threadId, sectionId: null })
    const rule = world.proxy.on({ method: 'thread/name/set', kind: 'response' }, 'withhold')
    const late: unknown[] = []
    const call = appServer.actions.call(
      'thread/name/set',
      { threadId, name: 'late' },
      { onLateAnswer: (answer) => void late.push(answer) },
    )
    expect(await rejection(call)).toMatchObject({
      code: 'request_timeout',
      delivery: 'unknown',
      message: 'thread/name/set was not answered in time.',
    })
    await rule.waitFired()
    expect(late).toEqual([])
    rule.release()
    await soon(() => late).toEqual([{}])
    expect(appServer.logged('transport.message_dropped')).toEqual([])
  })

  test('cancels a read at once and ignores its answer', async () => {
    const appServer = client(world.socketPath)
    await appServer.reads.connect()
    const rule = world.proxy.on({ method: 'thread/list', kind: 'response' }, 'withhold')
    const cancel = new AbortController()
    const call = rejection(appServer.reads.call('thread/list', {}, { signal: cancel.signal }))
    await rule.waitFired()
    cancel.abort()
    expect(await call).toMatchObject({ code: 'cancelled', next: 'same_request_id' })
    rule.release()
    await soon(() => appServer.logged('transport.late_answer')).toHaveLength(1)
    expect(await appServer.reads.call('thread/list', {})).toMatchObject({ nextCursor: null })
    expect(appServer.logged('transport.message_dropped')).toEqual([])
  })

  test('does not send a call that was cancelled before, be it a read or a mutation', async () => {
    const appServer = client(world.socketPath)
    const signal = AbortSignal.abort()
    const before = world.proxy.log.length
    const cancelled = { code: 'cancelled', delivery: 'not_sent' }
    expect(await rejection(appServer.reads.call('thread/list', {}, { signal }))).toMatchObject(cancelled)
    expect(
      await rejection(appServer.actions.call('turn/start', { threadId: 't', input }, { signal })),
    ).toMatchObject(cancelled)
    expect(world.proxy.log).toHaveLength(before)
  })

  test('lets a mutation that was sent run to its answer, cancelled or not', async () => {
    const appServer = client(world.socketPath)
    await appServer.actions.connect()
    const rule = world.proxy.on({ method: 'thread/start', kind: 'response' }, 'withhold')
    const cancel = new AbortController()
    const call = appServer.actions.call(
      'thread/start',
      { ...never, cwd: world.cwd },
      { signal: cancel.signal },
    )
    await rule.waitFired()
    cancel.abort()
    rule.release()
    expect(await call).toMatchObject({ cwd: world.cwd, approvalPolicy: 'never' })
  })

  test('tells its listeners of each notification in order, and one that throws disturbs nobody', async () => {
    const appServer = client(world.socketPath)
    const threadId = await start(appServer)
    const heard: string[] = []
    appServer.actions.onNotification(() => {
      throw new TypeError('a listener’s mistake')
    })
    const stop = appServer.actions.onNotification(({ method }) => void heard.push(method))
    await appServer.actions.call('turn/start', { threadId, input })
    await soon(() => heard).toContain('turn/completed')
    expect(heard.indexOf('turn/started')).toBeLessThan(heard.indexOf('turn/completed'))
    const [failed] = appServer.logged('transport.listener_failed')
    expect(failed?.error).toBe('TypeError')
    expect(failed?.at).toContain('connection.test.ts')
    expect(JSON.stringify(appServer.lines)).not.toContain('mistake')

    stop()
    const count = heard.length
    await appServer.actions.call('thread/unsubscribe', { threadId })
    await start(appServer)
    expect(heard).toHaveLength(count)
  })

  test('tells its listeners of a loss, but not of its own end', async () => {
    const appServer = client(world.socketPath)
    const losses: string[] = []
    appServer.reads.onDisconnect(() => void losses.push('reads'))
    appServer.actions.onDisconnect(() => void losses.push('actions'))
    await appServer.reads.connect()
    world.proxy.cut()
    await soon(() => losses).toEqual(['reads'])
    await appServer.actions.connect()
    await appServer.reads.connect()
    await appServer.close()
    expect(losses).toEqual(['reads'])
    await soon(() => world.proxy.openConnections).toBe(0)
  })

  test('is refused when closed, and closes what waits as lost', async () => {
    const appServer = client(world.socketPath)
    await appServer.reads.connect()
    const rule = world.proxy.on({ method: 'thread/list', kind: 'response' }, 'withhold')
    const waiting = rejection(appServer.reads.call('thread/list', {}))
    await rule.waitFired()
    await appServer.close()
    expect(await waiting).toMatchObject({ code: 'connection_lost', delivery: 'unknown' })
    expect(await rejection(appServer.reads.call('thread/list', {}))).toMatchObject({
      code: 'host_state',
      delivery: 'not_sent',
    })
  })
})

describe('a restart of the App Server', () => {
  test.each(testedVersions)('%s: the next call connects again and the threads are there', async (version) => {
    const world = await startWorld({ version })
    try {
      const { socketPath } = world.appServer
      const appServer = client(socketPath)
      const raw = await world.openClient()
      const threadId = await raw.startThread({ cwd: world.cwd })
      await raw.runTurn(threadId, 'hello')
      await appServer.reads.connect()
      const lost = loss(appServer.reads)
      await world.appServer.kill()
      await lost
      expect(await rejection(appServer.reads.call('thread/read', { threadId }))).toMatchObject({
        code: 'socket_stale',
        delivery: 'not_sent',
      })
      await world.appServer.restart()
      expect(await appServer.reads.call('thread/read', { threadId })).toMatchObject({
        thread: { id: threadId, status: { type: 'notLoaded' } },
      })
    } finally {
      await world.close()
    }
  })
})

test('a call in flight at an App Server that stands still times out, and the connection lives on', async () => {
  const world = await startWorld({ version: OLDEST_CODEX })
  try {
    const appServer = client(world.appServer.socketPath, { timeouts: { 'thread/loaded/list': 50 } })
    await appServer.reads.connect()
    await world.appServer.freeze()
    expect(await rejection(appServer.reads.call('thread/loaded/list', {}))).toMatchObject({
      code: 'request_timeout',
      delivery: 'unknown',
    })
    world.appServer.thaw()
    expect(await appServer.reads.call('thread/list', {})).toMatchObject({ data: [] })
    expect(appServer.logged('transport.connected')).toHaveLength(1)
  } finally {
    await world.close()
  }
})
