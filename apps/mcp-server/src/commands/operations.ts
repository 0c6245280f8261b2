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
import { lineOf, reconcileEach, sentenceOf, summarise, type Outcome } from './operations/reconcile-all.ts'

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

/** Runs `act` with the operations tools; resolves to the exit code. */
const withHost = async (
  options: BridgeOptions,
  output: Output,
  act: (host: Host) => Promise<void>,
): Promise<number> => {
  const host = await compose({ ...options, plugins: ['threads', 'operations'] }, jsonLog(options.logLevel))
  try {
    await act(host)
    return 0
  } catch (error) {
    return reportError(asBridgeError(error), output)
  } finally {
    await host.close()
  }
}

/** One call of an operations tool, printed. */
const printCall = (
  options: BridgeOptions,
  output: Output,
  call: { readonly tool: string; readonly args: object; readonly plain: (answer: unknown) => string },
): Promise<number> =>
  withHost(options, output, async (host) => {
    const answer = await host.call(call.tool, call.args)
    console.log(output.json ? JSON.stringify(answer, null, 2) : call.plain(answer))
  })

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
export const reconcileAll = (options: BridgeOptions, output: Output): Promise<number> =>
  withHost(options, output, async (host) => {
    const outcomes: Outcome[] = []
    for await (const outcome of reconcileEach(host)) {
      outcomes.push(outcome)
      if (!output.json) console.log(lineOf(outcome))
    }
    const summary = summarise(outcomes)
    console.log(output.json ? JSON.stringify({ data: outcomes, summary }, null, 2) : sentenceOf(summary))
  })
