import type { Connection, ConnectionCallOptions } from '../contract/app-server.ts'
import { methodSpec, type Method, type Params, type Result } from '../protocol/methods.ts'
import { unlessAborted } from './deadline.ts'
import { cancelledUnsent, failure } from './failure.ts'
import { createLiveSession, type LiveSessionOptions } from './live-session.ts'
import { firstAttempt, nextAttempt, type Attempt } from './repeat.ts'
import type { ResultCheck } from './results.ts'
import type { Outcome, RequestOptions, Session } from './session.ts'
import { createSlots } from './slots.ts'

export interface ConnectionOptions extends LiveSessionOptions {
  /** `reads` or `actions`, for the log. */
  readonly name: string
  readonly check: ResultCheck
  readonly random: () => number
  /** Milliseconds that replace those of the method table. */
  readonly timeouts: Readonly<Partial<Record<Method, number>>>
}

export interface ClosableConnection extends Connection {
  /** The open session; opens one if there is none. @throws TransportError with delivery not_sent */
  session(): Promise<Session>
  /** Calls that still wait are lost; later ones are refused. */
  close(): Promise<void>
}

/** More calls at once wait here: an App Server has one queue of 128 for all its clients and refuses what is above. */
const mostInFlight = 32

/** One logical connection to the App Server at a socket path. */
export const createConnection = (options: ConnectionOptions): ClosableConnection => {
  const { clock } = options
  const live = createLiveSession({
    ...options,
    log: (level, event, fields) => options.log(level, event, { connection: options.name, ...fields }),
  })
  const normal = createSlots(mostInFlight)
  const suspects = createSlots(1)

  const send = async (
    method: Method,
    { params, suspect }: Attempt,
    { signal, onLateAnswer }: Omit<RequestOptions, 'timeoutMs'>,
  ): Promise<Outcome> => {
    const { effect, timeoutMs } = methodSpec(method)
    const slots = suspect ? suspects : normal
    const cancelled = () => cancelledUnsent(method)
    if (!(await slots.take(signal))) throw cancelled()
    try {
      const { session } = await unlessAborted(live.connected(), signal, cancelled)
      return await session.request(method, params, {
        timeoutMs: options.timeouts[method] ?? timeoutMs,
        signal: effect === 'read' ? signal : undefined,
        onLateAnswer,
      })
    } finally {
      slots.release()
    }
  }

  const call = async <M extends Method>(
    method: M,
    params: Params<M>,
    { signal, onLateAnswer }: ConnectionCallOptions<M> = {},
  ): Promise<Result<M>> => {
    const late = (result: unknown): void => onLateAnswer?.(options.check(method, result))
    let attempt = firstAttempt(params)
    for (;;) {
      const pause = attempt.pauseMs > 0 ? clock.sleep(attempt.pauseMs, signal) : Promise.resolve()
      await unlessAborted(pause, signal, () => cancelledUnsent(method))
      const outcome = await send(method, attempt, { signal, onLateAnswer: late })
      if (outcome.kind === 'answered') return options.check(method, outcome.result)
      const next = live.closed ? undefined : nextAttempt(method, attempt, outcome, options.random)
      if (next === undefined) throw failure(method, outcome)
      options.log('info', 'transport.repeated', { connection: options.name, method, after: outcome.kind })
      attempt = next
    }
  }

  return {
    call,
    connect: async () => (await live.connected()).server,
    session: async () => (await live.connected()).session,
    get server() {
      return live.server
    },
    onNotification: (listener) => live.onNotification(listener),
    onDisconnect: (listener) => live.onDisconnect(listener),
    close: () => live.close(),
  }
}
