import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { startWorld } from '@codex-thread-bridge/test-fixtures'
import { describe, expect, onTestFinished, test } from 'vitest'
import { BridgeError } from '../../src/contract/index.ts'
import { socketFault } from '../../src/transport/socket-fault.ts'
import { client, listening, rejection, socketIn } from './support.ts'

const fault = async (path: string, connectTimeoutMs = 10_000) => {
  const error = await rejection(client(path, { connectTimeoutMs }).reads.call('thread/list', {}))
  if (!BridgeError.is(error)) throw error
  return error
}

const startedWorld = async () => {
  const world = await startWorld({ version: '0.171.0' })
  onTestFinished(() => world.close())
  return world
}

/** Keeps what connects; ends it with the test. */
const server = async (onConnection: (socket: Socket) => void): Promise<string> => {
  const path = socketIn()
  const listener = createServer((socket) => {
    socket.on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    onConnection(socket)
  })
  await listening(listener, path)
  return path
}

describe('a socket that cannot be used is told apart:', () => {
  test('absent', async () => {
    const path = socketIn()
    expect(await fault(path)).toMatchObject({
      code: 'socket_absent',
      delivery: 'not_sent',
      next: 'same_request_id',
      message: `There is no socket at ${path}.`,
      hint: 'Start the App Server (`codex app-server --listen unix://`) or pass --socket.',
      details: { socket: { configured: path, resolved: path } },
    })
  })

  test('absent, below something that is no directory', async () => {
    const file = socketIn('file')
    writeFileSync(file, '')
    expect(await fault(join(file, 's.sock'))).toMatchObject({ code: 'socket_absent' })
  })

  test('a link to a socket that is gone', async () => {
    const path = socketIn()
    symlinkSync(join(dirname(path), 'gone'), path)
    expect(await fault(path)).toMatchObject({
      code: 'socket_absent',
      message: `${path} is a link to a socket that is gone.`,
    })
  })

  test('stale, after the App Server was killed', async () => {
    const world = await startedWorld()
    await world.appServer.kill()
    expect(await fault(world.appServer.socketPath)).toMatchObject({
      code: 'socket_stale',
      delivery: 'not_sent',
      message: `Nobody listens on ${world.appServer.socketPath}.`,
      hint: 'The App Server died or was stopped: start it again.',
    })
  })

  test('forbidden', async () => {
    const path = await server(() => undefined)
    chmodSync(path, 0o600)
    chmodSync(dirname(path), 0o755)
    const error = await asOrdinaryUser(path, () => fault(path))
    expect(error).toMatchObject({
      code: 'socket_forbidden',
      delivery: 'not_sent',
      message: `This user may not open ${path}.`,
      hint: 'Run the bridge as the user who runs the App Server.',
    })
  })

  test('a file, or a directory', async () => {
    const file = socketIn('file')
    const directory = socketIn('directory')
    writeFileSync(file, '')
    mkdirSync(directory)
    expect(await fault(file)).toMatchObject({
      code: 'socket_wrong_type',
      delivery: 'not_sent',
      message: `${file} is a file, not a socket.`,
    })
    expect(await fault(directory)).toMatchObject({
      code: 'socket_wrong_type',
      message: `${directory} is a directory, not a socket.`,
    })
  })

  test('a named pipe, or links in a circle', async () => {
    const pipe = socketIn('pipe')
    execFileSync('mkfifo', [pipe])
    expect(await fault(pipe)).toMatchObject({
      code: 'socket_wrong_type',
      message: `${pipe} is a named pipe, not a socket.`,
    })
    const path = socketIn()
    symlinkSync(path, path)
    expect(await fault(path)).toMatchObject({
      code: 'socket_absent',
      message: `${path} leads through links that go round in a circle.`,
    })
  })

  test.each([
    ['something that greets in another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a web server', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'],
    [
      'a server of another upgrade',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n',
    ],
  ])('%s', async (_, greeting) => {
    const path = await server((socket) => void socket.write(greeting))
    expect(await fault(path)).toMatchObject({
      code: 'socket_not_websocket',
      delivery: 'not_sent',
      hint: 'Check --socket: it must be the App Server control socket.',
    })
  })

  test('a web server that knows no WebSockets', async () => {
    const path = socketIn()
    await listening(
      createHttpServer((_, response) => response.end('hello')),
      path,
    )
    expect(await fault(path)).toMatchObject({
      code: 'socket_not_websocket',
      message: `${path} did not do a WebSocket handshake (Unexpected server response: 200).`,
    })
  })

  test('one that hangs up at once', async () => {
    const path = await server((socket) => void socket.destroy())
    expect(await fault(path)).toMatchObject({ code: 'socket_not_websocket', delivery: 'not_sent' })
  })

  test('one that accepts and says nothing', async () => {
    const path = await server(() => undefined)
    expect(await fault(path, 50)).toMatchObject({
      code: 'socket_silent',
      delivery: 'not_sent',
      message: `${path} accepts connections, but nothing answered for 50 ms.`,
      hint: 'The App Server hangs or is stopped: look at its process.',
    })
  })

  test('an App Server whose process stands still', async () => {
    const world = await startedWorld()
    await world.appServer.freeze()
    expect(await fault(world.appServer.socketPath, 100)).toMatchObject({ code: 'socket_silent' })
    world.appServer.thaw()
  })
})

describe('connect(2) errors that a test cannot provoke', () => {
  const socket = { configured: '/run/s.sock', resolved: '/run/s.sock' }
  test.each([
    ['EPERM', 'socket_forbidden', 'This user may not open /run/s.sock.'],
    ['ELOOP', 'socket_absent', '/run/s.sock leads through links that go round in a circle.'],
    ['EAGAIN', 'socket_silent', '/run/s.sock has a full queue of connections that nobody accepts.'],
    ['EPROTOTYPE', 'socket_not_websocket', '/run/s.sock is a socket of another kind.'],
  ])('%s is %s', async (code, expected, message) => {
    const error = Object.assign(new Error(`connect ${code}`), { code })
    expect(await socketFault(socket, error)).toMatchObject({
      code: expected,
      message,
      cause: error,
      delivery: 'not_sent',
    })
  })
})

test('the socket of a killed App Server is left as it is and works again after a restart', async () => {
  const world = await startedWorld()
  const { socketPath } = world.appServer
  await world.appServer.kill()
  const appServer = client(socketPath)
  expect(await rejection(appServer.reads.connect())).toMatchObject({ code: 'socket_stale' })
  await world.appServer.restart()
  expect(await appServer.reads.connect()).toMatchObject({ version: '0.171.0' })
})

/** Root may open everything: takes another user's rights for as long as `act` runs, where the tests run as root. */
const asOrdinaryUser = async <T>(path: string, act: () => Promise<T>): Promise<T> => {
  if (process.geteuid?.() !== 0) {
    chmodSync(path, 0o000)
    return act()
  }
  process.seteuid?.(65_534)
  try {
    return await act()
  } finally {
    process.seteuid?.(0)
  }
}
