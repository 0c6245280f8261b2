import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import type { Next } from '../contract/errors.ts'
import { BridgeError } from '../contract/errors.ts'
import { Receipt, receiptFields } from './receipt.ts'

type Members = Readonly<Record<string, unknown>>

const checked = Compile(Receipt)
const fields = new Map(Object.entries(receiptFields))

/**
 * A receipt from its stored JSON. Receipts of older bridges get what they lack: an `error` that is a string becomes an
 * object, so does a `desktopProjectAssociation` that is one, members of a known name but another shape move to `legacy`.
 * @throws BridgeError ledger_corrupt, naming the request
 */
export const parseReceipt = (requestId: string, stored: unknown): Receipt => {
  const members = parseMembers(stored)
  if (members === undefined) throw unreadable(requestId, 'is not a JSON object')
  if (checked.Check(members)) return members
  const completed = complete(requestId, members)
  if (checked.Check(completed)) return completed
  const [first] = checked.Errors(completed)
  throw unreadable(requestId, `has no valid ${first?.instancePath.slice(1) || 'members'}`)
}

const unreadable = (requestId: string, what: string): BridgeError =>
  new BridgeError('ledger_corrupt', `The receipt of ${JSON.stringify(requestId)} ${what}.`, {
    details: { requestId },
  })

const parseMembers = (stored: unknown): Members | undefined => {
  if (typeof stored !== 'string') return undefined
  try {
    const value: unknown = JSON.parse(stored)
    return isMembers(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const complete = (requestId: string, members: Members): Members => {
  const kept: Record<string, unknown> = {}
  const legacy: Record<string, unknown> = {}
  for (const [name, value] of Object.entries({ ...members, ...reshaped(members) })) {
    const field = fields.get(name)
    if (field === undefined || Value.Check(field, value)) kept[name] = value
    else if (value !== null && value !== undefined) legacy[name] = value
  }
  const startedAt = kept.startedAt ?? 0
  const defaults = {
    requestId,
    operation: 'unknown',
    startedAt,
    updatedAt: startedAt,
    retrySafe: false,
    next: nextAfter[String(kept.status)],
    steps: [],
  }
  return { ...defaults, ...kept, ...(Object.keys(legacy).length === 0 ? {} : { legacy }) }
}

/** What the Python bridge wrote in a shape that the outputs of today's tools do not allow. */
const reshaped = ({ error, desktopProjectAssociation: association }: Members): Members => ({
  ...(typeof error === 'string' ? { error: { code: 'app_server_error', message: error } } : {}),
  ...(typeof association === 'string' ? { desktopProjectAssociation: { status: association } } : {}),
  ...(isMembers(association) ? { desktopProjectAssociation: withoutNulls(association) } : {}),
})

const withoutNulls = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))

// Nothing tells how far an older bridge's failure got: look before acting.
const nextAfter: Readonly<Record<string, Next>> = {
  accepted: 'none',
  failed: 'inspect',
  outcome_unknown: 'reconcile',
  in_progress_or_unknown: 'reconcile',
}
