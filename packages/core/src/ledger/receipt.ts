import { Type, type Static, type TSchema } from 'typebox'

export const statuses = ['in_progress_or_unknown', 'accepted', 'failed', 'outcome_unknown'] as const
export type Status = (typeof statuses)[number]

export const stepStates = ['intended', 'answered', 'rejected', 'not_sent', 'unknown'] as const
export type StepState = (typeof stepStates)[number]

const Str = Type.String()
const enumOf = <const T extends string[]>(values: readonly [...T]) => Type.Enum(values, { type: 'string' })

/** One action on the world: written as intended before, with its outcome after. `at` is epoch seconds. */
export const Step = Type.Object({ name: Str, state: enumOf(stepStates), at: Type.Number() })
export type Step = Static<typeof Step>

/** Who runs the action: a process, told apart from a later one with the same pid. */
export const Owner = Type.Object({ pid: Type.Integer(), startTime: Str, bootId: Str })
export type Owner = Static<typeof Owner>

/** One compared field of an environment that is not as asked for. */
export const Difference = Type.Object({ field: Str, expected: Type.Unknown(), actual: Type.Unknown() })
export type Difference = Static<typeof Difference>

/**
 * What is known of one mutation (contract: receipts, Fields). Members that an operation adds are kept as they are.
 * Times are seconds since the epoch, fractional.
 */
export const receiptFields = {
  requestId: Str,
  operation: Str,
  family: Type.Optional(Str),
  status: enumOf(statuses),
  execution: Type.Optional(enumOf(['running', 'interrupted'])),
  startedAt: Type.Number(),
  updatedAt: Type.Number(),
  retrySafe: Type.Boolean(),
  next: enumOf(['fix_call', 'same_request_id', 'new_request_id', 'reconcile', 'inspect', 'none']),
  fingerprintVersion: Type.Optional(Type.Integer()),
  deliveryMarker: Type.Optional(Str),
  caller: Type.Optional(Type.Object({ threadId: Type.Optional(Str), turnId: Type.Optional(Str) })),
  server: Type.Optional(Type.Object({ version: Str, socketMtimeNs: Str })),
  steps: Type.Array(Step),
  threadId: Type.Optional(Str),
  turnId: Type.Optional(Str),
  creation: Type.Optional(Type.Object({})),
  resumed: Type.Optional(Type.Object({ cwd: Type.Optional(Str) })),
  title: Type.Optional(Str),
  verifiedEnvironment: Type.Optional(
    Type.Object({ matches: Type.Boolean(), differences: Type.Array(Difference) }),
  ),
  delivery: Type.Optional(
    Type.Object({ state: enumOf(['recorded', 'acknowledged']), as: enumOf(['turn', 'steer', 'queue']) }),
  ),
  error: Type.Optional(Type.Object({ code: Str, message: Str, details: Type.Optional(Type.Object({})) })),
  rpcError: Type.Optional(
    Type.Object({ code: Type.Number(), message: Str, data: Type.Optional(Type.Unknown()) }),
  ),
  reconciliation: Type.Optional(
    Type.Object({
      verdict: Str,
      checkedAt: Type.Number(),
      looked: Type.Object({}),
      serverVersion: Type.Optional(Str),
    }),
  ),
  replayed: Type.Optional(Type.Boolean()),
  receiptPersisted: Type.Optional(Type.Boolean()),
} as const

/** The output schema of a mutation: its receipt and its own members. */
export const receiptOutput = <const P extends Record<string, TSchema>>(own: P) =>
  Type.Object({ ...receiptFields, ...own })

export const Receipt = Type.Object({ ...receiptFields, owner: Type.Optional(Owner) })
/** A receipt as it is stored; an operation's own members ride along. */
export type Receipt = Static<typeof Receipt> & { readonly [own: string]: unknown }

/** What a step or a tool adds to its receipt. */
export type ReceiptPatch = Readonly<Record<string, unknown>>
