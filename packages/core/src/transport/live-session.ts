import type { WebSocket } from 'ws'
import type { ServerInfo, ServerNotification, SocketDescription } from '../contract/app-server.ts'
import type { Clock, Log } from '../contract/tool.ts'
import { withDeadline } from './deadline.ts'
import { clientClosed } from './failure.ts'
import { createFanOut } from './fan-out.ts'
import { initialize } from './handshake.ts'
import { createSession, type Session } from './session.ts'
import { silent } from './socket-fault.ts'
import { describeSocket } from './socket-path.ts'
import { openUnixSocket } from './unix-socket.ts'

export interface LiveSessionOptions {
  readonly socketPath: string
  /** The bridge's. */
  readonly version: string
  readonly log: Log
  readonly clock: Clock
  readonly nextId: () => number
  readonly connectTimeoutMs: number
}

export interface Connected {
  readonly session: Session
  readonly server: ServerInfo
}

/** The one session that is open now: opened when it is needed, again after a loss. */
export interface LiveSession {
  /** The open session; opens one if there is none. @throws TransportError with delivery not_sent */
  connected(): Promise<Connected>
  /** What the last handshake told. */
  readonly server: ServerInfo | undefined
  readonly closed: boolean
  onNotification(listener: (notification: ServerNotification) => void): () => void
  onDisconnect(listener: () => void): () => void
  close(): Promise<void>
}

/** How long a goodbye may take. */
const closeGraceMs = 500

export const createLiveSession = (options: LiveSessionOptions): LiveSession => {
  const { socketPath, version, log, clock, connectTimeoutMs } = options
  const notifications = createFanOut<ServerNotification>(log)
  const losses = createFanOut<void>(log)
  const closing = new AbortController()
  let live: Connected | undefined
  let opening: Promise<Connected> | undefined
  let server: ServerInfo | undefined

  const lost = (session: Session | undefined): void => {
    if (session === undefined || session !== live?.session) return
    live = undefined
    if (!closing.signal.aborted) losses.emit()
  }

  const openSocket = (socket: SocketDescription): Promise<WebSocket> =>
    withDeadline(clock, connectTimeoutMs, async (overdue) => {
      try {
        return await openUnixSocket(socket, AbortSignal.any([overdue, closing.signal]))
      } catch (error) {
        if (closing.signal.aborted) throw clientClosed()
        throw overdue.aborted ? silent(socket, connectTimeoutMs) : error
      }
    })

  const open = async (): Promise<Connected> => {
    const socket = describeSocket(socketPath)
    const session: Session = createSession(await openSocket(socket), {
      clock,
      log,
      nextId: options.nextId,
      onNotification: (notification) => notifications.emit(notification),
      onEnd: (end) => {
        log(closing.signal.aborted ? 'debug' : 'warn', 'transport.disconnected', end)
        lost(session)
      },
    })
    try {
      const timeoutMs = connectTimeoutMs
      server = await initialize(session, { socket, version, timeoutMs, signal: closing.signal })
      if (closing.signal.aborted) throw clientClosed()
    } catch (error) {
      await session.close(0)
      throw error
    }
    log('info', 'transport.connected', { server: server.version, socket: socketPath })
    live = { session, server }
    return live
  }

  return {
    connected: () => {
      if (closing.signal.aborted) return Promise.reject(clientClosed())
      if (live?.session.open === true) return Promise.resolve(live)
      // A session that the server is closing takes no more calls.
      lost(live?.session)
      opening ??= open().finally(() => {
        opening = undefined
      })
      return opening
    },
    get server() {
      return server
    },
    get closed() {
      return closing.signal.aborted
    },
    onNotification: (listener) => notifications.add(listener),
    onDisconnect: (listener) => losses.add(listener),
    close: async () => {
      closing.abort()
      await opening?.catch(() => undefined)
      await live?.session.close(closeGraceMs)
    },
  }
}
