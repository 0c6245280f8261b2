import { createHash } from 'node:crypto'
import type { Caller } from '../contract/tool.ts'
import { canonicalJson } from '../ledger/fingerprint.ts'
import type { ParsedInput } from './parse.ts'

/**
 * The request id of a mutation, one rule for all (contract: architecture): the caller's own, else one that a repetition
 * of the same call by its client gives again, else a fresh one.
 */
export const requestIdOf = (
  tool: string,
  input: ParsedInput,
  caller: Caller,
  fresh: () => string,
): string => {
  if (typeof input.request_id === 'string') return input.request_id
  if (caller.callIdentity === undefined) return `once-${fresh()}`
  const digest = createHash('sha256')
    .update(canonicalJson([caller.callIdentity, tool, input]))
    .digest('hex')
  return `call-${digest.slice(0, 32)}`
}
