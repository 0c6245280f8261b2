import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { at, isObject, tempDir, textAt } from '@codex-thread-bridge/test-fixtures'
import { expect, onTestFinished } from 'vitest'
import { WebSocketServer, type WebSocket } from 'ws'
import type { AppServer, Connection } from '../../src/contract/index.ts'
import { createAppServer, type AppServerOptions } from '../../src/transport/index.ts'

export interface LogLine {
  readonly level: string
  readonly event: string
  readonly fields: Readonly<Record<string, unknown>>
}

export interface Client extends AppServer {
  readonly lines: readonly LogLine[]
  /** The fields of every line of an event. */
  logged(event: string): readonly Readonly<Record<string, unknown>>[]
}

/** A client of the App Server at a socket path, closed after the test. */
export const client = (socketPath: string, options: Partial<AppServerOptions> = {}): Client => {
  const lines: LogLine[] = []
  const appServer = createAppServer({
    socketPath,
    version: '1.2.3',
    log: (level, event, fields = {}) => void lines.push({ level, event, fields }),
    ...options,
  })
  onTestFinished(() => appServer.close())
  return Object.assign(appServer, {
    lines,
    logged: (event: string) => lines.filter((line) => line.event === event).map(({ fields }) => fields),
  })
}

/** A path for a socket in a directory of this test. */
export const socketIn = (name = 's.sock'): string => {
  const directory = tempDir('tr')
  onTestFinished(() => directory.remove())
  return join(directory.path, name)
}

/** Listens on a socket path until the test ends. */
export const listening = async (server: Server, path: string): Promise<void> => {
  server.listen(path)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
}

export interface Request {
  readonly id: number
  readonly method: string
  readonly params: unknown
}

export interface FakeServer {
  readonly socketPath: string
  readonly headers: readonly IncomingHttpHeaders[]
  /** Everything that came in, in order, of all connections. */
  readonly received: readonly unknown[]
  /** The params of every request of a method. */
  asked(method: string): readonly unknown[]
  /** The newest connection. */
  socket(): WebSocket
}

export type Reply = (request: Request, socket: WebSocket) => unknown

export const userAgent = 'codex-thread-bridge/9.9.9 (Linux; x86_64) unknown'

/** An App Server for what the real one cannot be made to do: `reply` gives the result of each request but initialize. */
export const fakeServer = async (reply: Reply = () => undefined): Promise<FakeServer> => {
  const socketPath = socketIn()
  const headers: IncomingHttpHeaders[] = []
  const received: unknown[] = []
  const server = createServer()
  const webSockets = new WebSocketServer({ server, maxPayload: 1024 * 1024 * 1024 })
  webSockets.on('headers', (_, request) => headers.push(request.headers))
  webSockets.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => {
      const message: unknown = JSON.parse(data.toString())
      received.push(message)
      const id = at(message, 'id')
      if (typeof id !== 'number' || !isObject(message) || !('method' in message)) return
      const request = { id, method: textAt(message, 'method'), params: message.params }
      const result =
        request.method === 'initialize' ? { userAgent, codexHome: '/home' } : reply(request, socket)
      if (result !== undefined) socket.send(JSON.stringify({ id, result }))
    }),
  )
  await listening(server, socketPath)
  onTestFinished(() => webSockets.clients.forEach((socket) => socket.terminate()))
  return {
    socketPath,
    headers,
    received,
    asked: (method) =>
      received.filter((message) => at(message, 'method') === method).map((message) => at(message, 'params')),
    socket: () => {
      const newest = [...webSockets.clients].at(-1)
      if (newest === undefined) throw new Error('nobody is connected')
      return newest
    },
  }
}

/** What a promise rejects with. */
export const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => {
      throw new Error(`resolved to ${JSON.stringify(value)}`)
    },
    (error: unknown) => error,
  )

export const aThread = { id: 't', cwd: '/', status: { type: 'idle' } }
export const aTurn = { id: 'u', status: 'completed', items: [] }

/** Resolves when a connection notices a loss. */
export const loss = (connection: Connection): Promise<void> =>
  new Promise((resolve) => {
    const stop = connection.onDisconnect(() => {
      stop()
      resolve()
    })
  })

/** An assertion that comes true within a time that suits a loaded machine. */
export const soon = <T>(look: () => T) => expect.poll(look, { timeout: 15_000, interval: 10 })
