import { fileURLToPath } from 'node:url'
import { BridgeError, type AppServer, type Next } from '@codex-thread-bridge/core/contract'
import { createHost } from '@codex-thread-bridge/core/host'
import { openLedger, Receipt, type LedgerPort } from '@codex-thread-bridge/core/ledger'
import type { Method } from '@codex-thread-bridge/core/protocol'
import { createAppServer } from '@codex-thread-bridge/core/transport'
import { startMcpClient } from '@codex-thread-bridge/test-fixtures'
import { createThreadsPlugin } from '@codex-thread-bridge/threads'
import { createWorktreesPlugin, type WorktreesOptions } from '@codex-thread-bridge/worktrees'
import { Type } from 'typebox'
import { Value } from 'typebox/value'

const SERVER = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

const NextSchema = Type.Enum([
  'fix_call',
  'same_request_id',
  'new_request_id',
  'reconcile',
  'inspect',
  'none',
])

/** A receipt, or the error of a call that left none. */
export type Answer =
  { readonly receipt: Receipt } | { readonly error: { readonly code: string; readonly next: Next } }

export interface Bridge {
  call(tool: string, args: object, signal?: AbortSignal): Promise<Answer>
  get(requestId: string): Promise<Answer>
  reconcile(requestId: string): Promise<Answer>
  close(): Promise<void>
}

export interface Place {
  readonly socketPath: string
  readonly stateDir: string
}

export interface ProcessOptions extends Place {
  /** Where programs are found; this process's PATH unless given. */
  readonly path?: string
}

const answering = async (call: Promise<unknown>): Promise<Answer> => {
  try {
    return { receipt: Value.Parse(Receipt, await call) }
  } catch (error) {
    if (!BridgeError.is(error)) throw error
    return { error: { code: error.code, next: error.next } }
  }
}

export interface HostOptions extends Place {
  readonly timeouts?: Partial<Record<Method, number>>
  /** Runs before each App Server method of a mutation is handed to the transport. */
  readonly beforeCall?: (method: Method, actions: AppServer['actions']) => Promise<void>
  readonly ledger?: (ledger: LedgerPort) => LedgerPort
  readonly clock?: Parameters<typeof createHost>[0]['clock']
  readonly git?: Partial<WorktreesOptions>
}

/** A bridge in this process: where time-outs, ledger and clock are given. */
export const hostBridge = async (options: HostOptions): Promise<Bridge> => {
  const { socketPath, stateDir, timeouts = {}, ledger = (port) => port, clock, git } = options
  const appServer = createAppServer({ socketPath, version: '0.0.0', timeouts, log: () => undefined })
  const host = createHost({
    appServer: hooked(appServer, options.beforeCall),
    ledger: async () => ledger(await openLedger({ stateDir, socketPath })),
    ...(clock === undefined ? {} : { clock }),
  })
  host.register(createThreadsPlugin())
  host.register(createWorktreesPlugin({ gitTimeoutMs: 30_000, ...git }))
  await host.ready()
  return {
    call: (tool, args, signal) => answering(host.call(tool, args, signal === undefined ? {} : { signal })),
    get: (requestId) => answering(host.operations.get(requestId)),
    reconcile: (requestId) => answering(host.operations.reconcile(requestId)),
    close: () => host.close(),
  }
}

const hooked = (appServer: AppServer, before: HostOptions['beforeCall']): AppServer => {
  if (before === undefined) return appServer
  const { actions } = appServer
  const call: typeof actions.call = async (method, params, options) => {
    await before(method, actions)
    return actions.call(method, params, options)
  }
  return {
    reads: appServer.reads,
    actions: {
      call,
      connect: () => actions.connect(),
      get server() {
        return actions.server
      },
      onNotification: (listener) => actions.onNotification(listener),
      onDisconnect: (listener) => actions.onDisconnect(listener),
    },
    socket: appServer.socket,
    missingMethods: (needed) => appServer.missingMethods(needed),
    close: () => appServer.close(),
  }
}

/** The built MCP server as a process: what can be cancelled and killed. */
export const processBridge = async ({
  socketPath,
  stateDir,
  path,
}: ProcessOptions): Promise<Bridge & { kill(): Promise<void> }> => {
  const child = await startMcpClient({
    command: process.execPath,
    args: [SERVER, '--socket', socketPath, '--state-dir', stateDir],
    env: { HOME: stateDir, ...(path === undefined ? {} : { PATH: path }) },
  })
  const call = async (name: string, args: object, signal?: AbortSignal): Promise<Answer> => {
    const { structured, error, text } = await child.call(
      name,
      { ...args },
      signal === undefined ? {} : { signal },
    )
    if (error !== undefined) return { error: { code: error.code, next: Value.Parse(NextSchema, error.next) } }
    if (structured === undefined) throw new Error(`${name} answered ${text}`)
    return { receipt: Value.Parse(Receipt, structured) }
  }
  return {
    call,
    get: (request_id) => call('get_operation', { request_id }),
    reconcile: (request_id) => call('get_operation', { request_id, reconcile: true }),
    kill: () => child.kill(),
    close: () => child.close(),
  }
}
