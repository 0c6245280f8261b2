import type { Receipt } from '@codex-thread-bridge/core/ledger'

type Members = Readonly<Record<string, unknown>>

/**
 * The members of a receipt that say what was done, when and with what outcome. Every other one is left out, also one
 * that a later version or a plugin adds: titles, what the App Server said of threads, and the words of errors can
 * all hold text of a conversation.
 */
const kept = [
  'requestId',
  'operation',
  'family',
  'status',
  'execution',
  'startedAt',
  'updatedAt',
  'retrySafe',
  'next',
  'fingerprintVersion',
  'deliveryMarker',
  'threadId',
  'turnId',
  'itemId',
  'promptRequested',
  'requestedAs',
  'durable',
  'restartSafe',
  'phase',
  'recoveryRequired',
] as const

/** The same for members that are objects. */
const keptWithin = {
  caller: ['threadId', 'turnId'],
  server: ['version', 'socketMtimeNs'],
  delivery: ['state', 'as'],
  error: ['code'],
  rpcError: ['code'],
  reconciliation: ['verdict', 'checkedAt', 'serverVersion'],
  verifiedEnvironment: ['matches'],
} as const

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Those of the members that are there and hold one word or number, as they should. */
const pick = (members: Members, names: readonly string[]): Members =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = members[name]
      return value === undefined || typeof value === 'object' ? [] : [[name, value] as const]
    }),
  )

/** A receipt without any text that people, models or servers wrote. */
export const redact = (receipt: Receipt): Members => ({
  ...pick(receipt, kept),
  ...Object.fromEntries(
    Object.entries(keptWithin).flatMap(([name, names]) => {
      const value: unknown = receipt[name]
      return isMembers(value) ? [[name, pick(value, names)] as const] : []
    }),
  ),
  steps: receipt.steps.map(({ name, state, at }) => ({ name, state, at })),
  redacted: true,
})
