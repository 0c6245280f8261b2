import { createHost, type Host } from '@codex-thread-bridge/core/host'
import type { AppServer, Plugin } from '@codex-thread-bridge/core/contract'
import { openLedger, Receipt } from '@codex-thread-bridge/core/ledger'
import { openCeiling, type Ceiling } from '@codex-thread-bridge/core/policy'
import type { Method } from '@codex-thread-bridge/core/protocol'
import { createAppServer } from '@codex-thread-bridge/core/transport'
import { createThreadsPlugin } from '@codex-thread-bridge/threads'
import { tempDir } from '@codex-thread-bridge/test-fixtures'
import { Value } from 'typebox/value'

export interface BridgeOptions {
  readonly socketPath: string
  /** A state directory that several bridges or a later one share; its own unless given. */
  readonly stateDir?: string
  readonly timeouts?: Partial<Record<Method, number>>
  readonly deliveryMarkers?: boolean
  /** Where it differs from the open one. */
  readonly ceiling?: Partial<Ceiling>
  readonly callMs?: number
  /** The tools; those of this package unless given. */
  readonly plugins?: readonly Plugin[]
  /** Runs before each App Server method of a mutation is sent. */
  readonly beforeCall?: (method: Method) => Promise<void>
  /** Runs after each answer to one, before the bridge sees it. */
  readonly afterCall?: (method: Method) => Promise<void>
}

export interface Bridge {
  readonly host: Host
  readonly stateDir: string
  /** A mutation's receipt. */
  call(tool: string, args: object, options?: Parameters<Host['call']>[2]): Promise<Receipt>
  reconcile(requestId: string): Promise<Receipt>
  receipt(requestId: string): Promise<Receipt>
  close(): Promise<void>
}

const logged: unknown[] = []

/** The bridge's own parts as the server composes them, over a real ledger and a real socket. */
export const startBridge = async (options: BridgeOptions): Promise<Bridge> => {
  const own = options.stateDir === undefined ? tempDir('state') : undefined
  const stateDir = options.stateDir ?? own?.path ?? ''
  const host = createHost({
    appServer: hooked(
      options,
      createAppServer({
        socketPath: options.socketPath,
        version: '0.0.0',
        log: (...line) => void logged.push(line),
        ...(options.timeouts === undefined ? {} : { timeouts: options.timeouts }),
      }),
    ),
    ledger: () => openLedger({ stateDir, socketPath: options.socketPath }),
    policy: {
      deliveryMarkers: options.deliveryMarkers ?? true,
      ceiling: { ...openCeiling, ...options.ceiling },
    },
    ...(options.callMs === undefined ? {} : { limits: { callMs: options.callMs } }),
  })
  for (const plugin of options.plugins ?? [createThreadsPlugin()]) host.register(plugin)
  await host.ready()
  return {
    host,
    stateDir,
    call: async (tool, args, call) => Value.Parse(Receipt, await host.call(tool, args, call)),
    reconcile: (requestId) => host.operations.reconcile(requestId),
    receipt: (requestId) => host.operations.get(requestId),
    close: async () => {
      await host.close()
      await own?.remove()
    },
  }
}

/** The same App Server with moments to act in around each call of a mutation. */
const hooked = ({ beforeCall, afterCall }: BridgeOptions, appServer: AppServer): AppServer => {
  if (beforeCall === undefined && afterCall === undefined) return appServer
  const { actions } = appServer
  const call: typeof actions.call = async (method, params, options) => {
    await beforeCall?.(method)
    const answer = await actions.call(method, params, options)
    await afterCall?.(method)
    return answer
  }
  const withHook: typeof actions = {
    call,
    connect: () => actions.connect(),
    get server() {
      return actions.server
    },
    onNotification: (listener) => actions.onNotification(listener),
    onDisconnect: (listener) => actions.onDisconnect(listener),
  }
  return {
    reads: appServer.reads,
    actions: withHook,
    socket: appServer.socket,
    missingMethods: (needed) => appServer.missingMethods(needed),
    close: () => appServer.close(),
  }
}

let counter = 0
/** A request id of its own for each use. */
export const freshId = (name: string): string => `${name}-${process.pid}-${(counter += 1)}`
