import { randomUUID } from 'node:crypto'
import type { AppServer } from '../contract/app-server.ts'
import { BridgeError } from '../contract/errors.ts'
import { given } from '../contract/given.ts'
import { manifestOf, type Manifest } from '../contract/manifest.ts'
import type { AnyTool, Clock, Limits, Log, Plugin } from '../contract/tool.ts'
import type { LedgerPort } from '../ledger/port.ts'
import { openCeiling, type Ceiling } from '../policy/ceiling.ts'
import type { Method } from '../protocol/methods.ts'
import { systemClock } from './clock.ts'
import { readContext, type CallOptions, type Surroundings } from './context.ts'
import { declaredOnly } from './gate.ts'
import { Mutations } from './mutations.ts'
import { Operations } from './operations.ts'
import { withinBudget } from './read-budget.ts'
import { Registry } from './registry.ts'
import { StartedThreads } from './started-threads.ts'

const SHUTDOWN_MS = 5_000

export interface Policy {
  /** Markers let a lost answer be found again; without them recovery cannot know. */
  readonly deliveryMarkers: boolean
  /** What no call of any family may go beyond. */
  readonly ceiling: Ceiling
}

export interface HostOptions {
  readonly appServer: AppServer
  /** A ledger, or how to open it: opened at the first mutation, tried again after a failure. */
  readonly ledger: LedgerPort | (() => Promise<LedgerPort>)
  /** Markers on, and no ceiling but the caller's own access, unless given. */
  readonly policy?: Partial<Policy>
  readonly limits?: Partial<Limits>
  readonly clock?: Clock
  readonly ids?: () => string
  readonly log?: Log
}

/** What get_capabilities and doctor tell of a host. */
export interface HostDescription {
  readonly appServer: AppServer
  readonly plugins: readonly Plugin[]
  readonly limits: Limits
  readonly policy: Policy
  readonly methodsNeeded: readonly Method[]
}

/** The narrow port under the operations tools. */
export type OperationsPort = Pick<Operations, 'get' | 'list' | 'reconcile' | 'ledger'> & {
  describe(): HostDescription
}

export interface Host {
  readonly operations: OperationsPort
  /** In the order of their names. */
  readonly tools: readonly AnyTool[]
  /** @throws BridgeError duplicate_tool, schema_gate, unknown_method, read_mutates, host_state */
  register(plugin: Plugin): void
  /** Runs the plugins' setup, in order; nothing can be registered afterwards. */
  ready(): Promise<void>
  has(name: string): boolean
  /**
   * One call, from arguments to answer.
   * @throws BridgeError: the call could not be carried out, and left no receipt
   */
  call(name: string, args: unknown, options?: CallOptions): Promise<unknown>
  manifest(): Manifest
  /** Lets running mutations save (5 s), then closes plugins in reverse order, the connections and the ledger. */
  close(): Promise<void>
}

/** Opened once; a failed opening is tried again at the next need. */
const lazily = (ledger: HostOptions['ledger']) => {
  let opened: Promise<LedgerPort> | undefined
  return {
    open: (): Promise<LedgerPort> => {
      opened ??= Promise.resolve(typeof ledger === 'function' ? ledger() : ledger)
      opened.catch(() => (opened = undefined))
      return opened
    },
    close: async (): Promise<void> => (await opened?.catch(() => undefined))?.close(),
  }
}

const silent: Log = () => undefined

/** The pipeline of architecture.md: parse, identify, claim, run, finish. */
export const createHost = (options: HostOptions): Host => {
  const { appServer } = options
  const policy: Policy = { deliveryMarkers: true, ceiling: openCeiling, ...options.policy }
  const around: Surroundings = {
    appServer,
    clock: options.clock ?? systemClock,
    log: options.log ?? silent,
    limits: { callMs: 50_000, resultBytes: 65_536, ...options.limits },
    deliveryMarkers: policy.deliveryMarkers,
    ceiling: policy.ceiling,
  }
  const registry = new Registry()
  const ledger = lazily(options.ledger)
  const started = new StartedThreads(appServer)
  const operations = new Operations(around, ledger.open, registry, started)
  const reconcileLate = (requestId: string): void => {
    operations.reconcile(requestId).catch(() => around.log('warn', 'late_reconcile_failed', { requestId }))
  }
  const mutations = new Mutations(around, ledger.open, options.ids ?? randomUUID, reconcileLate)
  const closers: (() => void | Promise<void>)[] = []
  let closed = false

  const describe = (): HostDescription => ({
    appServer,
    plugins: registry.plugins,
    limits: around.limits,
    policy,
    methodsNeeded: [...new Set(registry.tools.flatMap((tool) => tool.uses))].sort(),
  })

  return {
    operations: {
      get: (requestId) => operations.get(requestId),
      list: (query) => operations.list(query),
      reconcile: (requestId, call) => operations.reconcile(requestId, call),
      ledger: () => operations.ledger(),
      describe,
    },
    get tools() {
      return registry.tools
    },
    register: (plugin) => registry.register(plugin),
    has: (name) => registry.find(name) !== undefined,
    manifest: () => manifestOf(registry.plugins),

    async ready() {
      registry.freeze()
      for (const plugin of registry.plugins) await plugin.setup?.({ onClose: (close) => closers.push(close) })
    },

    async call(name, args, call = {}) {
      if (closed || !registry.frozen)
        throw new BridgeError('host_state', closed ? 'The host is closed.' : 'The host is not ready yet.')
      const entry = registry.find(name)
      if (entry === undefined)
        throw new BridgeError('unknown_tool', `There is no tool ${JSON.stringify(name)}.`)
      const { tool } = entry
      const input = entry.parse(args)
      const fault = tool.check?.(input)
      if (fault !== undefined) {
        const { code = 'invalid_arguments', message, field, hint } = fault
        throw new BridgeError(code, message, { field, ...given({ hint }) })
      }
      if (tool.kind === 'mutation') {
        const receipt = await mutations.call({ ...entry, tool }, input, call)
        return tool.answer === undefined ? receipt : tool.answer(receipt)
      }
      return withinBudget(around, call.signal, (signal) =>
        tool.run(readContext(around, appServer.reads, declaredOnly(tool), { ...call, signal }), input),
      )
    },

    async close() {
      if (closed) return
      closed = true
      await mutations.settle(SHUTDOWN_MS)
      for (const close of closers.reverse()) await close()
      started.stop()
      await appServer.close()
      await ledger.close()
    },
  }
}
