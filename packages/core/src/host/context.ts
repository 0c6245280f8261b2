import type { AppServer, Connection } from '../contract/app-server.ts'
import type { Caller, Clock, Limits, Log, ReadContext } from '../contract/tool.ts'
import type { Ceiling } from '../policy/ceiling.ts'
import type { Method, Params, Result } from '../protocol/methods.ts'

/** What one call brings along. */
export interface CallOptions {
  readonly signal?: AbortSignal
  readonly caller?: Caller
  readonly progress?: (message: string) => void
}

/** What all calls of a host share. */
export interface Surroundings {
  readonly appServer: AppServer
  readonly clock: Clock
  readonly log: Log
  readonly limits: Limits
  readonly deliveryMarkers: boolean
  readonly ceiling: Ceiling
}

const noop = (): void => undefined

/** The context of a call on one connection; `allow` throws for a method that may not be called. */
export const readContext = (
  around: Surroundings,
  connection: Connection,
  allow: (method: Method) => void,
  options: CallOptions & { readonly signal: AbortSignal },
): ReadContext<Method> => ({
  call: async <M extends Method>(method: M, params: Params<M>): Promise<Result<M>> => {
    allow(method)
    return connection.call(method, params, { signal: options.signal })
  },
  signal: options.signal,
  caller: options.caller ?? {},
  clock: around.clock,
  log: around.log,
  limits: around.limits,
  deadline: around.clock.now() + around.limits.callMs,
  progress: options.progress ?? noop,
  observe: (listener, onLoss = noop) => {
    const stops = [connection.onNotification(listener), connection.onDisconnect(onLoss)]
    return () => stops.forEach((stop) => stop())
  },
  lastServer: () => connection.server,
})
