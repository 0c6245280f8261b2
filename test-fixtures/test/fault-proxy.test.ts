import { afterEach, beforeAll, afterAll, describe, expect, it } from 'vitest'
import {
  at,
  listAt,
  openRawClient,
  poll,
  type RawClient,
  startWorld,
  testedVersions,
  type World,
} from '../src/index.ts'

const someCall = 'thread/loaded/list'
const otherCall = 'thread/list'

describe.each(testedVersions)('the fault proxy before codex %s', (version) => {
  let world: World
  let client: RawClient
  /** What the App Server itself says, past the proxy. */
  let truth: RawClient

  beforeAll(async () => {
    world = await startWorld({ version })
    truth = await world.openClient()
  })
  afterAll(() => world.close())

  async function connect(): Promise<void> {
    client = await openRawClient(world.socketPath)
  }
  afterEach(async () => {
    world.proxy.clear()
    await client.close()
  })

  function reached(method: string): number {
    return world.proxy.reached(method).filter(({ connection }) => connection === world.proxy.connections)
      .length
  }
  async function loadedThreads(): Promise<number> {
    return listAt(await truth.call(someCall), 'data').length
  }
  /** A call whose outcome is looked at later, so that its rejection is none of the test's. */
  function pending(method: string): { readonly outcome: Promise<unknown>; state: string } {
    const watched = { outcome: Promise.resolve<unknown>(undefined), state: 'pending' }
    watched.outcome = client.call(method).then(
      () => (watched.state = 'answered'),
      (error: unknown) => (watched.state = String(at(error, 'message'))),
    )
    return watched
  }

  it('logs every message of a connection, named by its method and direction', async () => {
    await connect()
    await client.call(someCall)
    const connection = world.proxy.connections
    const seen = world.proxy.log.filter(
      (logged) => logged.connection === connection && logged.method !== undefined,
    )
    const [asked, answered] = [
      await world.proxy.waitFor({ connection, method: someCall, kind: 'request' }),
      await world.proxy.waitFor({ connection, method: someCall, kind: 'response' }),
    ]
    expect(seen.slice(0, 2).map(({ direction, kind, method }) => [direction, kind, method])).toEqual([
      ['to-server', 'request', 'initialize'],
      ['to-client', 'response', 'initialize'],
    ])
    expect(asked).toMatchObject({ direction: 'to-server', id: 2, action: 'forward', deliveries: 1 })
    expect(answered).toMatchObject({ direction: 'to-client', id: 2, message: { result: { data: [] } } })
  })

  it('drops a request: it was sent, never reaches the server, and the next one does', async () => {
    await connect()
    world.proxy.on({ method: someCall }, 'drop')
    const dropped = pending(someCall)
    await client.call(someCall)
    expect(dropped.state).toBe('pending')
    expect(world.proxy.log.filter((l) => l.kind === 'request' && l.method === someCall).at(-2)?.action).toBe(
      'drop',
    )
    expect(reached(someCall)).toBe(1)
  })

  it('delays a request and everything behind it, in order, until the release', async () => {
    await connect()
    const rule = world.proxy.on({ method: someCall }, 'delay')
    const [delayed, behind] = [pending(someCall), pending(otherCall)]
    await world.proxy.waitFor({ method: otherCall, connection: world.proxy.connections })
    expect([reached(someCall), reached(otherCall)]).toEqual([0, 0])
    rule.release()
    await Promise.all([delayed.outcome, behind.outcome])
    expect([delayed.state, behind.state]).toEqual(['answered', 'answered'])
  })

  it('delays an answer for a time', async () => {
    await connect()
    const rule = world.proxy.on({ method: someCall, kind: 'response' }, { delayMs: 30 })
    const answer = pending(someCall)
    expect(await rule.waitFired()).toMatchObject({ action: 'delayMs', deliveries: 0 })
    await answer.outcome
    expect(rule.fired).toMatchObject([{ deliveries: 1 }])
  })

  it('withholds a request until the release while later ones overtake it', async () => {
    await connect()
    const rule = world.proxy.on({ method: someCall }, 'withhold')
    const withheld = pending(someCall)
    await client.call(otherCall)
    expect([withheld.state, reached(someCall)]).toEqual(['pending', 0])
    rule.release()
    await withheld.outcome
    expect([withheld.state, reached(someCall)]).toEqual(['answered', 1])
  })

  it('duplicates a request: the server carries it out twice', async () => {
    await connect()
    const threads = await loadedThreads()
    world.proxy.on({ method: 'thread/start', kind: 'request' }, 'duplicate')
    await client.startThread({ cwd: world.cwd })
    await poll(async () => (await loadedThreads()) === threads + 2)
    expect([world.proxy.sent('thread/start').at(-1)?.deliveries, reached('thread/start')]).toEqual([2, 2])
  })

  it('rewrites an answer', async () => {
    await connect()
    const rewrite = (message: unknown) => ({ id: at(message, 'id'), result: { rewritten: true } })
    world.proxy.on({ method: someCall, direction: 'to-client' }, { rewrite })
    expect(await client.call(someCall)).toEqual({ rewritten: true })
  })

  it('cuts the connection before a request: the server never carries it out', async () => {
    await connect()
    const threads = await loadedThreads()
    world.proxy.on({ method: 'thread/start' }, { cut: 'before' })
    await expect(client.startThread()).rejects.toThrow('connection closed')
    expect(reached('thread/start')).toBe(0)
    expect(await loadedThreads()).toBe(threads)
  })

  it('cuts the connection after a request: the server carries it out and the answer is lost', async () => {
    await connect()
    const threads = await loadedThreads()
    world.proxy.on({ method: 'thread/start', kind: 'request' }, { cut: 'after' })
    await expect(client.startThread({ cwd: world.cwd })).rejects.toThrow('connection closed')
    const { connections: connection } = world.proxy
    const lost = await world.proxy.waitFor({ connection, method: 'thread/start', kind: 'response' })
    expect(lost).toMatchObject({ action: 'lost', deliveries: 0 })
    expect(reached('thread/start')).toBe(1)
    expect(await loadedThreads()).toBe(threads + 1)
  })

  it('cuts the connection after an answer: the answer still arrives', async () => {
    await connect()
    world.proxy.on({ method: someCall, kind: 'response' }, { cut: 'after' })
    await client.call(someCall)
    await poll(() => world.proxy.openConnections === 0)
    await expect(client.call(someCall)).rejects.toThrow()
  })

  it('freezes both directions until the release', async () => {
    await connect()
    const rule = world.proxy.on({ method: someCall, kind: 'request' }, 'freeze')
    const frozen = pending(someCall)
    await rule.waitFired()
    await truth.startThread({ cwd: world.cwd })
    const { connections: connection } = world.proxy
    await world.proxy.waitFor({ connection, method: 'thread/started', direction: 'to-client' })
    expect([frozen.state, reached(someCall)]).toEqual(['pending', 0])
    expect(client.notifications.map(({ method }) => method)).not.toContain('thread/started')
    rule.release()
    await frozen.outcome
    await client.waitFor('thread/started')
    expect(frozen.state).toBe('answered')
  })

  it('answers in the place of the server', async () => {
    await connect()
    const error = { code: -32600, message: 'Server is draining', data: { reason: 'serverShuttingDown' } }
    world.proxy.on({ method: someCall }, { respond: { error } })
    await expect(client.call(someCall)).rejects.toMatchObject({ code: -32600, data: error.data })
    world.proxy.on({ method: someCall }, { respond: (request) => ({ result: at(request, 'params') }) })
    expect(await client.call(someCall, { limit: 3 })).toEqual({ limit: 3 })
    expect(reached(someCall)).toBe(0)
  })

  it('fires from the nth match on, as often as it is told', async () => {
    await connect()
    const rule = world.proxy.on(
      { method: someCall, kind: 'request', nth: 2, times: 2 },
      { respond: { result: 'canned' } },
    )
    const answers = []
    for (let n = 0; n < 4; n += 1) answers.push((await client.call(someCall)) === 'canned')
    expect(answers).toEqual([false, true, true, false])
    expect(rule.fired.map(({ id }) => id)).toEqual([3, 4])
  })

  it('lets the earliest of several rules fire, and the next one after it', async () => {
    await connect()
    for (const result of ['first', 'second'])
      world.proxy.on({ method: someCall, kind: 'request' }, { respond: { result } })
    expect([await client.call(someCall), await client.call(someCall)]).toEqual(['first', 'second'])
  })

  it('withholds a request of the server', async () => {
    await connect()
    const threadId = await client.startThread({ cwd: world.cwd, approvalPolicy: 'on-request' })
    const cmd = { cmd: 'true', sandbox_permissions: 'require_escalated' }
    world.model.reply({ toolCall: { name: 'exec_command', arguments: cmd } }, { text: 'done' })
    const rule = world.proxy.on({ kind: 'server-request' }, 'withhold')
    await client.startTurn(threadId, 'Ask me.')
    expect(await rule.waitFired()).toMatchObject({ method: 'item/commandExecution/requestApproval' })
    expect(client.serverRequests).toEqual([])
    rule.release()
    const { id } = await client.waitForRequest('item/commandExecution/requestApproval')
    client.respond(id, { decision: 'decline' })
    expect(at((await client.waitFor('turn/completed')).params, 'turn.status')).toBe('completed')
  })

  it('refuses new connections while it is told to, and keeps the open ones', async () => {
    await connect()
    world.proxy.refuse(true)
    await expect(openRawClient(world.socketPath)).rejects.toThrow('socket hang up')
    await client.call(someCall)
    world.proxy.refuse(false)
    await (await openRawClient(world.socketPath)).close()
  })

  it('cuts all connections, and each new one gets a connection of its own to the server', async () => {
    await connect()
    const second = await openRawClient(world.socketPath)
    expect(world.proxy.openConnections).toBe(2)
    const calls = [pending(someCall), second.call(someCall)]
    world.proxy.cut()
    await expect(calls[1]).rejects.toThrow('connection closed')
    await connect()
    await client.call(someCall)
    expect(world.proxy.openConnections).toBe(1)
  })

  it('fails the handshake while the App Server is down, and ends connections when it is killed', async () => {
    await connect()
    await world.appServer.kill()
    await poll(() => world.proxy.openConnections === 0)
    await expect(openRawClient(world.socketPath)).rejects.toThrow('socket hang up')
    await world.appServer.restart()
    truth = await world.openClient()
    await connect()
    await client.call(someCall)
  })
})
