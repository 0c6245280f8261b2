import { BridgeError, type AnyTool, type Clock, type Example } from '@codex-thread-bridge/core/contract'
import { createHost, type Host } from '@codex-thread-bridge/core/host'
import { cannedAppServer, memoryLedger, type CannedAppServer } from '@codex-thread-bridge/core/testing'
import { createGoalsPlugin } from '@codex-thread-bridge/goals'
import { createOperationsPlugin } from '@codex-thread-bridge/operations'
import { createReadsPlugin } from '@codex-thread-bridge/reads'
import { createThreadsPlugin } from '@codex-thread-bridge/threads'
import fc from 'fast-check'
import { samples, type Sample } from './arguments.ts'
import { brokenTexts, schemaFaults, withoutNulls } from './schema-fault.ts'

export interface FuzzOptions {
  readonly runs: number
  readonly seed: number
  readonly path?: string
}

/** How often each kind of end was met. */
export interface FuzzCounts {
  valid: number
  invalid: number
  /** Fits the schema and breaks a rule that the schema cannot say. */
  faulty: number
}

interface Bench {
  readonly host: Host
  readonly appServer: CannedAppServer
}

/** A ledger in memory reads all of its receipts for a list. */
const CALLS_A_BENCH = 500
/** The budget of a call, which never ends here. */
const CALL_MS = 1_000_000_000

/** All other pauses are over at once. */
const hastyClock = (): Clock => {
  let now = 1_796_000_000_000
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const abort = (): void => reject(signal?.reason as Error)
        if (signal?.aborted === true) return abort()
        signal?.addEventListener('abort', abort, { once: true })
        if (ms >= CALL_MS) return
        now += ms
        setImmediate(resolve)
      }),
  }
}

const openBench = async (answers: Example['answers'] = {}): Promise<Bench> => {
  const appServer = cannedAppServer(answers)
  const host = createHost({
    appServer,
    ledger: memoryLedger(),
    clock: hastyClock(),
    limits: { callMs: CALL_MS },
  })
  host.register(createThreadsPlugin())
  host.register(createReadsPlugin())
  host.register(createGoalsPlugin())
  host.register(createOperationsPlugin(host.operations, { version: '0.0.0', testedVersions: [] }))
  await host.ready()
  return { host, appServer }
}

/** The answers of a tool's examples, the first one's first. */
const answersOf = (tool: AnyTool): Example['answers'] =>
  Object.assign({}, ...tool.examples.map(({ answers }) => answers).reverse()) as Example['answers']

/** What came of a call. */
const errorOf = async (host: Host, tool: AnyTool, args: unknown): Promise<BridgeError | undefined> => {
  try {
    await host.call(tool.name, args)
    return undefined
  } catch (error) {
    if (BridgeError.is(error)) return error
    throw new Error('it threw something else than a BridgeError', { cause: error })
  }
}

/** A field by its name; none, in words, for the arguments as a whole and for a member without a name. */
const namesField = ({ code, field, message }: BridgeError, whole: boolean): boolean =>
  field === undefined
    ? whole && /^((The|A name in the) arguments|``) /.test(message)
    : field !== '' && (code !== 'invalid_arguments' || message.includes(field))

/** Whether a field is the place itself or holds it. */
const isAt = (place: string, field = ''): boolean => place === field || place.startsWith(`${field}.`)

const demand = (holds: boolean, fault: string): void => {
  if (!holds) throw new Error(fault)
}

/** Every tool with random arguments: refused where they are wrong, naming the place and calling nobody, and only there. */
export const fuzz = async ({ runs, seed, path }: FuzzOptions) => {
  const counts: FuzzCounts = { valid: 0, invalid: 0, faulty: 0 }
  let refusing = await openBench()
  let calls = 0
  const open = new Map<string, Bench>()
  const tools = new Map(refusing.host.tools.map((tool) => [tool.name, tool]))
  const toolOf = (name: string): AnyTool => {
    const tool = tools.get(name)
    if (tool === undefined) throw new Error(`no tool ${name}`)
    return tool
  }
  const renew = async (): Promise<void> => {
    for (const { host } of [refusing, ...open.values()]) await host.close()
    open.clear()
    refusing = await openBench()
  }
  const answering = async (tool: AnyTool): Promise<Bench> => {
    const bench = open.get(tool.name) ?? (await openBench(answersOf(tool)))
    open.set(tool.name, bench)
    return bench
  }

  const check = async (sample: Sample): Promise<void> => {
    const { args } = sample
    const tool = toolOf(sample.tool)
    if ((calls += 1) % CALLS_A_BENCH === 0) await renew()
    const faults = [...schemaFaults(JSON.parse(JSON.stringify(tool.input)), args ?? {}), ...brokenTexts(args)]
    const fault = faults.length > 0 ? undefined : tool.check?.(withoutNulls(args ?? {}))
    if (faults.length === 0 && fault === undefined) {
      counts.valid += 1
      const { host, appServer } = await answering(tool)
      const error = await errorOf(host, tool, args)
      const rootFault = error?.field?.startsWith('sandbox_policy.writableRoots.') === true
      demand(error?.code !== 'invalid_arguments' || rootFault, `valid arguments: ${String(error)}`)
      demand(error?.code !== 'internal' || appServer.faults.length > 0, `internal: ${String(error?.stack)}`)
      return
    }
    counts[fault === undefined ? 'invalid' : 'faulty'] += 1
    const { host, appServer } = refusing
    const error = await errorOf(host, tool, args)
    demand(error !== undefined, `not refused, though ${faults.join()} ${fault?.message ?? ''} is wrong`)
    demand(
      error?.code === (fault?.code ?? 'invalid_arguments'),
      `refused as ${String(error?.code)}: ${String(error?.stack)}`,
    )
    demand(
      error !== undefined && namesField(error, faults.includes('')),
      `no field: ${JSON.stringify(error)}`,
    )
    const named = fault === undefined ? faults : [fault.field]
    demand(
      named.some((place) => isAt(place, error?.field)),
      `names ${error?.field}, wrong is ${named.join()}`,
    )
    demand(appServer.called.size === 0, `called ${[...appServer.called].join()}`)
  }

  const property = fc.asyncProperty(samples([...tools.values()]), (sample) =>
    // What a broken call left behind would be held against the next one.
    check(sample).catch(async (error: unknown) => {
      await renew()
      throw error
    }),
  )
  const report = await fc.check(property, {
    seed,
    numRuns: runs,
    ...(path === undefined ? {} : { path, endOnFailure: true }),
  })
  await renew()
  await refusing.host.close()
  return { report, counts }
}
