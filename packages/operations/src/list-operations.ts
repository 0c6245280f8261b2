import { defineRead, given } from '@codex-thread-bridge/core/contract'
import type { OperationsPort } from '@codex-thread-bridge/core/host'
import { receiptFields, statuses, type Receipt } from '@codex-thread-bridge/core/ledger'
import { contentBytes, fields, jsonBytes } from '@codex-thread-bridge/core/threads'
import { Type, type Static } from 'typebox'
import { cursorAfter, placeOf } from './operations-cursor.ts'

const LIMIT = 20

const { requestId, operation, status, execution, threadId, turnId, startedAt, updatedAt, next } =
  receiptFields
const Row = Type.Object({
  requestId,
  operation,
  status,
  execution,
  threadId,
  turnId,
  startedAt,
  updatedAt,
  next,
  error: Type.Optional(Type.Object({ code: Type.String() })),
})
type Row = Static<typeof Row>

const rowOf = (receipt: Receipt): Row => ({
  requestId: receipt.requestId,
  operation: receipt.operation,
  status: receipt.status,
  ...given({ execution: receipt.execution, threadId: receipt.threadId, turnId: receipt.turnId }),
  startedAt: receipt.startedAt,
  updatedAt: receipt.updatedAt,
  next: receipt.next,
  ...given({ error: receipt.error && { code: receipt.error.code } }),
})

/** The first rows whose JSON is within `bytes`; at least one. */
const rowsThatFit = (rows: readonly Row[], bytes: number): readonly Row[] => {
  let left = bytes
  const count = rows.findIndex((row) => (left -= jsonBytes(row) + 1) < 0)
  return count === -1 ? rows : rows.slice(0, Math.max(1, count))
}

/** list_operations (contract: bridge-tools, operations). */
export const listOperations = (operations: OperationsPort) =>
  defineRead({
    name: 'list_operations',
    title: 'List operations',
    description:
      'Lists the mutations that this bridge has recorded for this App Server, of all tools and clients, newest first, in short form; get_operation with a requestId returns the whole receipt. status outcome_unknown finds what should be reconciled; thread_id what was done to one thread. startedAt and updatedAt are seconds since the epoch. nextCursor (null: no more) goes back in as cursor, unchanged.',
    input: Type.Object(
      {
        status: Type.Optional(
          Type.Enum([...statuses], { type: 'string', description: 'Only operations of this status' }),
        ),
        thread_id: Type.Optional(fields.threadId),
        limit: Type.Optional(fields.limit('operations', LIMIT)),
        cursor: Type.Optional(fields.cursor),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({
      data: Type.Array(Row),
      nextCursor: Type.Union([Type.String(), Type.Null()]),
    }),
    uses: [],
    examples: [
      { input: {}, answers: {} },
      { input: { status: 'outcome_unknown', limit: 5 }, answers: {} },
    ],

    async run(ctx, input) {
      const { receipts, more } = await operations.list({
        limit: input.limit ?? LIMIT,
        ...given({ status: input.status, threadId: input.thread_id }),
        ...(input.cursor === undefined || input.cursor === '' ? {} : { after: placeOf(input.cursor) }),
      })
      const rows = receipts.map(rowOf)
      const data = rowsThatFit(rows, contentBytes(ctx.limits.resultBytes))
      const last = data.at(-1)
      const goesOn = last !== undefined && (more || data.length < rows.length)
      return { data: [...data], nextCursor: goesOn ? cursorAfter(last) : null }
    },
  })
