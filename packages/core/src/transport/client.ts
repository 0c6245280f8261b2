import { homedir } from 'node:os'
import type { AppServer } from '../contract/app-server.ts'
import type { Clock, Log } from '../contract/tool.ts'
import { systemClock } from '../host/clock.ts'
import type { Method } from '../protocol/methods.ts'
import { createConnection } from './connection.ts'
import { listMethods } from './method-list.ts'
import { createResultCheck } from './results.ts'
import type { Session } from './session.ts'
import { describeSocket, findSocketPath } from './socket-path.ts'

export interface AppServerOptions {
  /** Where the App Server listens; looked up in the environment when left out (findSocketPath). */
  readonly socketPath?: string | undefined
  /** process.env by default. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The bridge's own version, told to the App Server. */
  readonly version: string
  readonly log: Log
  readonly clock?: Clock
  /** From 0 to below 1; Math.random by default. */
  readonly random?: () => number
  /** Milliseconds that replace those of the method table. */
  readonly timeouts?: Readonly<Partial<Record<Method, number>>>
  /** How long the WebSocket handshake may take, and then `initialize`; 10,000 ms by default. */
  readonly connectTimeoutMs?: number
}

/**
 * The App Server behind a Unix socket. Connects at the first call, and again after a loss; never starts, stops or
 * changes the server.
 */
export const createAppServer = (options: AppServerOptions): AppServer => {
  const { env = process.env, clock = systemClock, timeouts = {}, connectTimeoutMs = 10_000 } = options
  const socketPath = findSocketPath({ configured: options.socketPath, env, homedir: homedir() })
  let id = 0
  const shared = {
    socketPath,
    version: options.version,
    log: options.log,
    clock,
    random: options.random ?? Math.random,
    timeouts,
    connectTimeoutMs,
    check: createResultCheck(),
    nextId: () => (id += 1),
  }
  const reads = createConnection({ ...shared, name: 'reads' })
  const actions = createConnection({ ...shared, name: 'actions' })
  const methodsOf = new WeakMap<Session, ReadonlySet<string>>()

  return {
    reads,
    actions,
    get socket() {
      return describeSocket(socketPath)
    },
    missingMethods: async (needed) => {
      const session = await reads.session()
      const listed = methodsOf.get(session) ?? (await listMethods(session, connectTimeoutMs))
      if (listed === undefined) return []
      methodsOf.set(session, listed)
      return needed.filter((method) => !listed.has(method))
    },
    close: async () => {
      await Promise.all([reads.close(), actions.close()])
    },
  }
}
