import { asBridgeError } from '@codex-thread-bridge/core/contract'
import type { Host } from '@codex-thread-bridge/core/host'
import { Receipt } from '@codex-thread-bridge/core/ledger'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { compose } from '../compose.ts'
import { jsonLog } from '../log.ts'
import type { BridgeOptions } from '../options.ts'
import { table } from '../table.ts'
import { reportError, type Output } from './operations/output.ts'
import {
  lineOf,
  pageOf,
  reconcileEach,
  sentenceOf,
  summarise,
  type Bounds,
  type Outcome,
} from './operations/reconcile-all.ts'
import { NoLedger, openExisting } from './operations/with-ledger.ts'

const receiptShape = Compile(Receipt)
/** The members of list_operations' rows that are shown. */
const pageShape = Compile(
  Type.Object({
    data: Type.Array(
      Type.Object({
        requestId: Type.String(),
        operation: Type.String(),
        status: Type.String(),
        startedAt: Type.Number(),
        threadId: Type.Optional(Type.String()),
      }),
    ),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
  }),
)

export interface ListFilter {
  readonly status?: string
  readonly thread?: string
  readonly limit?: string
  readonly cursor?: string
}

/** Epoch seconds as UTC to the second. */
const timeOf = (seconds: number): string =>
  new Date(seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')

const listed = (answer: unknown): string => {
  const { data, nextCursor } = pageShape.Parse(answer)
  if (data.length === 0) return 'No operations.'
  const rows = data.map(({ startedAt, status, operation, threadId, requestId }) => [
    timeOf(startedAt),
    status,
    operation,
    threadId ?? '-',
    requestId,
  ])
  const page = table([['STARTED (UTC)', 'STATUS', 'OPERATION', 'THREAD', 'REQUEST'], ...rows])
  return nextCursor === null ? page : `${page}\nMore: --cursor ${nextCursor}`
}

const shown = (answer: unknown): string => {
  const receipt = receiptShape.Parse(answer)
  const { error, delivery, reconciliation } = receipt
  const rows: (readonly [string, string | number | undefined])[] = [
    ['request', receipt.requestId],
    ['operation', receipt.operation],
    ['status', receipt.execution === undefined ? receipt.status : `${receipt.status} (${receipt.execution})`],
    ['next', receipt.next],
    ['started', timeOf(receipt.startedAt)],
    ['updated', timeOf(receipt.updatedAt)],
    ['thread', receipt.threadId],
    ['turn', receipt.turnId],
    ['title', receipt.title],
    ['delivery', delivery && `${delivery.state} as ${delivery.as}`],
    ['error', error && `${error.code}: ${error.message}`],
    ['reconciled', reconciliation && `${reconciliation.verdict}, ${timeOf(reconciliation.checkedAt)}`],
    ...receipt.steps.map(({ name, state, at }) => ['step', `${name} ${state}, ${timeOf(at)}`] as const),
  ]
  return table(rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])))
}

/** Runs `act` with the operations tools on the ledger that is there; `empty` where there is none. The exit code. */
const withHost = async (
  options: BridgeOptions,
  output: Output,
  act: (host: Host) => Promise<void>,
  empty?: () => void,
): Promise<number> => {
  const plugins = ['threads', 'worktrees', 'operations'] as const
  const host = await compose({ ...options, plugins }, jsonLog(options.logLevel), openExisting)
  try {
    await act(host)
    return 0
  } catch (error) {
    if (error instanceof NoLedger && error.nothing && empty !== undefined) {
      empty()
      return 0
    }
    return reportError(asBridgeError(error), output)
  } finally {
    await host.close()
  }
}

interface Call {
  readonly tool: string
  readonly args: object
  readonly plain: (answer: unknown) => string
  /** The answer where there is no ledger; an error unless given. */
  readonly empty?: unknown
}

/** One call of an operations tool, printed. */
const printCall = (options: BridgeOptions, output: Output, call: Call): Promise<number> => {
  const print = (answer: unknown): void =>
    console.log(output.json ? JSON.stringify(answer, null, 2) : call.plain(answer))
  const act = async (host: Host): Promise<void> => print(await host.call(call.tool, call.args))
  return withHost(options, output, act, call.empty === undefined ? undefined : () => print(call.empty))
}

/** What is not a number stays as it is, for the tool to refuse. */
const numberOf = (text: string | undefined): unknown =>
  text === undefined || text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)

export const listOperations = (options: BridgeOptions, filter: ListFilter, output: Output): Promise<number> =>
  printCall(options, output, {
    tool: 'list_operations',
    args: {
      status: filter.status,
      thread_id: filter.thread,
      limit: numberOf(filter.limit),
      cursor: filter.cursor,
    },
    plain: listed,
    empty: { data: [], nextCursor: null },
  })

export const showOperation = (options: BridgeOptions, requestId: string, output: Output): Promise<number> =>
  printCall(options, output, { tool: 'get_operation', args: { request_id: requestId }, plain: shown })

/** Looks for the truth with read-only calls and keeps the evidence in the receipt. */
export const reconcileOperation = (
  options: BridgeOptions,
  requestId: string,
  output: Output,
): Promise<number> =>
  printCall(options, output, {
    tool: 'get_operation',
    args: { request_id: requestId, reconcile: true },
    plain: shown,
  })

/** The same for every receipt that is uncertain: a line each as it comes, then how many became what. */
export const reconcileAll = (options: BridgeOptions, bounds: Bounds, output: Output): Promise<number> => {
  const page = pageOf(bounds)
  const finish = (outcomes: readonly Outcome[], nextCursor: string | null): void => {
    const summary = summarise(outcomes)
    if (output.json) return console.log(JSON.stringify({ data: outcomes, summary, nextCursor }, null, 2))
    console.log(sentenceOf(summary))
    if (nextCursor !== null) console.log(`More: --cursor ${nextCursor}`)
  }
  const act = async (host: Host): Promise<void> => {
    const outcomes: Outcome[] = []
    const each = reconcileEach(host, page)
    for (;;) {
      const next = await each.next()
      if (next.done === true) return finish(outcomes, next.value)
      outcomes.push(next.value)
      if (!output.json) console.log(lineOf(next.value))
    }
  }
  return withHost(options, output, act, () => finish([], null))
}
