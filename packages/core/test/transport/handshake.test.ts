import { once } from 'node:events'
import { createServer } from 'node:http'
import { stat } from 'node:fs/promises'
import { startWorld, testedVersions } from '@codex-thread-bridge/test-fixtures'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { client, fakeServer, listening, loss, rejection, socketIn, soon } from './support.ts'

const mtimeNs = async (path: string) => String((await stat(path, { bigint: true })).mtimeNs)

describe.each(testedVersions)('the App Server %s', (version) => {
  test('tells its version, its home and when it bound its socket', async () => {
    const world = await startWorld({ version })
    onTestFinished(() => world.close())
    const { socketPath } = world.appServer
    const appServer = client(socketPath)
    const before = await mtimeNs(socketPath)

    expect(appServer.reads.server).toBeUndefined()
    const server = await appServer.reads.connect()
    expect(server).toEqual({
      userAgent: server.userAgent,
      version,
      codexHome: world.home.path,
      socketMtimeNs: before,
    })
    expect(appServer.reads.server).toBe(server)

    await world.appServer.restart()
    const restarted = await appServer.reads.connect()
    expect(restarted).toEqual({ ...server, socketMtimeNs: await mtimeNs(socketPath) })
    expect(restarted.socketMtimeNs).not.toBe(before)
  })

  test('lacks none of the methods that it has, and is asked once a connection', async () => {
    const world = await startWorld({ version })
    onTestFinished(() => world.close())
    const appServer = client(world.socketPath)
    const probe = 'codexThreadBridge/methods'
    expect(await appServer.missingMethods(['thread/start', 'thread/list', 'turn/steer'])).toEqual([])
    expect(await appServer.missingMethods(['thread/queue/add'])).toEqual([])
    expect(world.proxy.sent(probe)).toHaveLength(1)
    const lost = loss(appServer.reads)
    world.proxy.cut()
    await lost
    expect(await appServer.missingMethods(['thread/read'])).toEqual([])
    expect(world.proxy.sent(probe)).toHaveLength(2)
  })
})

describe('the handshake', () => {
  test('offers no compression and names no origin', async () => {
    const server = await fakeServer()
    await client(server.socketPath).reads.connect()
    const [headers = {}] = server.headers
    expect(headers).toMatchObject({ host: 'localhost', upgrade: 'websocket' })
    expect(headers).not.toHaveProperty('sec-websocket-extensions')
    expect(headers).not.toHaveProperty('origin')
  })

  test('asks for the experimental API, then says initialized, and uses no jsonrpc member', async () => {
    const server = await fakeServer()
    await client(server.socketPath).reads.connect()
    await soon(() => server.received).toEqual([
      {
        id: 1,
        method: 'initialize',
        params: {
          clientInfo: { name: 'codex-thread-bridge', title: 'Codex Thread Bridge', version: '1.2.3' },
          capabilities: { experimentalApi: true },
        },
      },
      { method: 'initialized' },
    ])
  })

  test('takes its version from the user agent', async () => {
    const server = await fakeServer()
    expect(await client(server.socketPath).reads.connect()).toMatchObject({
      version: '9.9.9',
      codexHome: '/home',
    })
  })

  test.each([
    [
      'server_overloaded',
      'refused by an overloaded App Server',
      { error: { code: -32001, message: 'Server overloaded; retry later.' } },
      'initialize was refused: Server overloaded; retry later.',
    ],
    [
      'handshake_failed',
      'refused',
      { error: { code: -32600, message: 'client too old' } },
      'initialize was refused: client too old',
    ],
    [
      'handshake_failed',
      'answered strangely',
      { result: { agent: 'x' } },
      'initialize was answered in an unknown shape.',
    ],
  ])('is %s when it is %s', async (code, _, answer, message) => {
    const { socketPath } = await oddServer(answer)
    expect(await rejection(client(socketPath).reads.call('thread/list', {}))).toMatchObject({
      code,
      delivery: 'not_sent',
      message,
    })
  })

  test('that is not answered means a silent App Server, and its connection is closed', async () => {
    const { socketPath, webSockets } = await oddServer(undefined)
    const error = await rejection(client(socketPath, { connectTimeoutMs: 50 }).reads.connect())
    expect(error).toMatchObject({ code: 'socket_silent', delivery: 'not_sent' })
    await soon(() => webSockets.clients.size).toBe(0)
  })

  test('that breaks off means that nothing was sent, and the next call tries again', async () => {
    const { socketPath, webSockets } = await oddServer(undefined)
    const appServer = client(socketPath)
    const connecting = rejection(appServer.reads.connect())
    await once(webSockets, 'connection')
    for (const socket of webSockets.clients) socket.terminate()
    expect(await connecting).toMatchObject({ code: 'connection_lost', delivery: 'not_sent' })

    const again = rejection(appServer.reads.connect())
    await once(webSockets, 'connection')
    for (const socket of webSockets.clients) socket.terminate()
    expect(await again).toMatchObject({ code: 'connection_lost', delivery: 'not_sent' })
  })
})

describe('missingMethods', () => {
  const refusing = (message: string) =>
    fakeServer(({ id }, socket) => void socket.send(JSON.stringify({ id, error: { code: -32600, message } })))

  test('names what the App Server does not list', async () => {
    const server = await refusing(
      'Invalid request: unknown variant `x`, expected one of `thread/read`, `thread/list`',
    )
    const appServer = client(server.socketPath)
    expect(await appServer.missingMethods(['thread/read', 'thread/queue/add', 'turn/start'])).toEqual([
      'thread/queue/add',
      'turn/start',
    ])
  })

  test('knows nothing to be missing when the App Server lists nothing', async () => {
    const server = await refusing('Method not found')
    expect(await client(server.socketPath).missingMethods(['thread/read'])).toEqual([])
  })

  test('fails like a call when there is no App Server', async () => {
    expect(await rejection(client(socketIn()).missingMethods(['thread/read']))).toMatchObject({
      code: 'socket_absent',
      delivery: 'not_sent',
    })
  })
})

/** Does the WebSocket handshake, and answers `initialize` with this or never. */
const oddServer = async (answer: object | undefined) => {
  const socketPath = socketIn()
  const server = createServer()
  const webSockets = new WebSocketServer({ server })
  webSockets.on('connection', (socket) => {
    socket.on('message', () => answer && socket.send(JSON.stringify({ id: 1, ...answer })))
  })
  await listening(server, socketPath)
  onTestFinished(() => webSockets.clients.forEach((socket) => socket.terminate()))
  return { socketPath, webSockets }
}
