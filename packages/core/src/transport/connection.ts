import type {
  Connection,
  ConnectionCallOptions,
  ServerInfo,
  ServerNotification,
} from '../contract/app-server.ts'
import { BridgeError, TransportError } from '../contract/errors.ts'
import type { Clock, Log } from '../contract/tool.ts'
import { methodSpec, type Method, type Params, type Result } from '../protocol/methods.ts'
import { unlessAborted, withDeadline } from './deadline.ts'
import { createFanOut } from './fan-out.ts'
import { initialize } from './handshake.ts'
import { connectionLost, firstAttempt, nextAttempt } from './repeat.ts'
import type { ResultCheck } from './results.ts'
import { appServerError } from './rpc-errors.ts'
import { createSession, type Outcome, type Session } from './session.ts'
import { silent } from './socket-fault.ts'
import { describeSocket } from './socket-path.ts'
import { openUnixSocket } from './unix-socket.ts'

export interface ConnectionOptions {
  /** `reads` or `actions`, for the log. */
  readonly name: string
  readonly socketPath: string
  /** The bridge's. */
  readonly version: string
  readonly log: Log
  readonly clock: Clock
  readonly check: ResultCheck
  readonly nextId: () => number
  /** Milliseconds that replace those of the method table. */
  readonly timeouts: Readonly<Partial<Record<Method, number>>>
  readonly connectTimeoutMs: number
}

export interface ClosableConnection extends Connection {
  /** The open session; opens one if there is none. @throws TransportError with delivery not_sent */
  session(): Promise<Session>
  /** Calls that still wait are lost; later ones are refused. */
  close(): Promise<void>
}

interface Live {
  readonly session: Session
  readonly server: ServerInfo
}

/** How long a goodbye may take. */
const closeGraceMs = 500

/** One logical connection to the App Server at a socket path. */
export const createConnection = (options: ConnectionOptions): ClosableConnection => {
  const { socketPath, version, clock, connectTimeoutMs } = options
  const log: Log = (level, event, fields) =>
    options.log(level, event, { connection: options.name, ...fields })
  const notifications = createFanOut<ServerNotification>(log)
  const losses = createFanOut<void>(log)
  const closing = new AbortController()
  let live: Live | undefined
  let opening: Promise<Live> | undefined
  let server: ServerInfo | undefined

  const lost = (session: Session | undefined): void => {
    if (session === undefined || session !== live?.session) return
    live = undefined
    if (!closing.signal.aborted) losses.emit()
  }

  const open = async (): Promise<Live> => {
    const socket = describeSocket(socketPath)
    const webSocket = await withDeadline(clock, connectTimeoutMs, (overdue) =>
      openUnixSocket(socket, AbortSignal.any([overdue, closing.signal])).catch((error: unknown) => {
        throw closing.signal.aborted ? closed() : overdue.aborted ? silent(socket, connectTimeoutMs) : error
      }),
    )
    const session: Session = createSession(webSocket, {
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
      server = await initialize(session, {
        socket,
        version,
        timeoutMs: connectTimeoutMs,
        signal: closing.signal,
      })
      if (closing.signal.aborted) throw closed()
    } catch (error) {
      await session.close(0)
      throw error
    }
    live = { session, server }
    log('info', 'transport.connected', { server: server.version, socket: socketPath })
    return live
  }

  const connected = (): Promise<Live> => {
    if (closing.signal.aborted) return Promise.reject(closed())
    if (live?.session.open === true) return Promise.resolve(live)
    // A session that is being closed by the server takes no more calls.
    lost(live?.session)
    opening ??= open().finally(() => {
      opening = undefined
    })
    return opening
  }

  const attempt = async (
    method: Method,
    params: object,
    { signal, onLateAnswer }: { signal?: AbortSignal | undefined; onLateAnswer: (result: unknown) => void },
  ): Promise<Outcome> => {
    const { effect, timeoutMs } = methodSpec(method)
    if (signal?.aborted === true) throw notSent('cancelled', 'The call was cancelled before it was sent.')
    const { session } = await unlessAborted(connected(), signal, () =>
      notSent('cancelled', 'The call was cancelled while the connection was opened.'),
    )
    return session.request(method, params, {
      timeoutMs: options.timeouts[method] ?? timeoutMs,
      signal: effect === 'read' ? signal : undefined,
      onLateAnswer,
    })
  }

  const call = async <M extends Method>(
    method: M,
    params: Params<M>,
    { signal, onLateAnswer }: ConnectionCallOptions<M> = {},
  ): Promise<Result<M>> => {
    const late = (result: unknown): void => onLateAnswer?.(options.check(method, result))
    let read = firstAttempt(params)
    for (;;) {
      const outcome = await attempt(method, read.params, { signal, onLateAnswer: late })
      if (outcome.kind === 'answered') return options.check(method, outcome.result)
      if (outcome.kind !== 'lost' || methodSpec(method).effect === 'mutate') throw failure(method, outcome)
      if (closing.signal.aborted) throw connectionLost(method)
      read = nextAttempt(method, read, outcome)
      log('info', 'transport.repeated', { method, frameTooLong: outcome.frameTooLong })
    }
  }

  return {
    call,
    connect: async () => (await connected()).server,
    session: async () => (await connected()).session,
    get server() {
      return server
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

const failure = (method: Method, outcome: Exclude<Outcome, { kind: 'answered' }>): BridgeError => {
  switch (outcome.kind) {
    case 'refused':
      return appServerError(method, outcome.rpc)
    case 'timed_out':
      return new TransportError('request_timeout', `${method} was not answered in time.`, 'unknown')
    case 'cancelled':
      return new BridgeError('cancelled', `${method} was cancelled; its answer is ignored.`)
    case 'not_sent':
      return notSent('connection_lost', `The connection ended before ${method} was sent.`)
    case 'too_large':
      return notSent('message_too_large', `${method} would be a message of ${outcome.bytes} bytes.`)
    case 'lost':
      return connectionLost(method)
  }
}

const closed = (): TransportError => notSent('host_state', 'The App Server client is closed.')

const notSent = (
  code: 'cancelled' | 'connection_lost' | 'message_too_large' | 'host_state',
  message: string,
) => new TransportError(code, message, 'not_sent')
