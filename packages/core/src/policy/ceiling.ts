import { sep } from 'node:path'
import {
  plainPolicy,
  sandboxName,
  sandboxNameOf,
  sandboxNames,
  type SandboxName,
  type SandboxPolicy,
} from '../protocol/sandbox.ts'
import type { Access } from './access.ts'

/** What the operator lets the bridge start or feed, whoever asks (policy: The operator's ceiling). */
export interface Ceiling {
  readonly maxSandbox: SandboxName
  /** Real paths; every directory that is named must be one of them or below one. None: anywhere. */
  readonly allowRoots: readonly string[]
  /** False: nothing that may use the network, danger-full-access included. */
  readonly network: boolean
  /** True: a call may start or feed agents with wider access than its caller has. */
  readonly escalation: boolean
}

/** What holds where the operator sets nothing: only the caller's own access is a limit. */
export const openCeiling: Ceiling = {
  maxSandbox: 'danger-full-access',
  allowRoots: [],
  network: true,
  escalation: false,
}

/** The access of the agent that calls. */
export interface CallerAccess {
  /** The mode, as its client spells it. */
  readonly told: string
  /** What it counts as. */
  readonly sandbox: SandboxName
}

/** What a client told of its agent's sandbox mode: a mode that we do not know counts as the least. */
export const callerAccess = (told: string | undefined): CallerAccess | undefined =>
  told === undefined ? undefined : { told, sandbox: sandboxNameOf(told) ?? 'read-only' }

/** Why something is not allowed: the end of a sentence that begins with what was wanted. */
export interface Refusal {
  readonly code: 'ceiling_exceeded' | 'escalation_refused'
  readonly because: string
}

const rank = (name: SandboxName): number => sandboxNames.indexOf(name)

const hasNetwork = (policy: SandboxPolicy): boolean =>
  policy.type === 'dangerFullAccess' || policy.networkAccess

/** What cannot be told could be anything. */
const worstCase = (access: Access): SandboxPolicy =>
  'policy' in access ? access.policy : plainPolicy('danger-full-access')

/** An access in words, network and all. */
export const accessWords = (access: Access): string => {
  if ('unknown' in access) return `${access.unknown}, whose limits are not known here`
  const name = sandboxName(access.policy)
  if (name === 'danger-full-access') return `${name} (network included)`
  return hasNetwork(access.policy) ? `${name} with network` : name
}

const callerWords = ({ told, sandbox }: CallerAccess): string =>
  sandboxNameOf(told) === undefined
    ? `the mode ${JSON.stringify(told)}, which is not known here and counts as read-only`
    : sandbox

/** What of an access the ceiling does not allow. */
const beyondCeiling = (ceiling: Ceiling, policy: SandboxPolicy): Refusal | undefined => {
  const refuse = (because: string): Refusal => ({ code: 'ceiling_exceeded', because })
  if (rank(sandboxName(policy)) > rank(ceiling.maxSandbox))
    return refuse(`this bridge allows ${ceiling.maxSandbox} at most (--max-sandbox)`)
  if (hasNetwork(policy) && !ceiling.network) return refuse('this bridge allows no network (--no-network)')
  return undefined
}

/** What of an access the caller does not have itself; clients do not tell whether a sandboxed caller has network. */
const beyondCaller = (caller: CallerAccess, policy: SandboxPolicy): Refusal | undefined => {
  const refuse = (doubt: string): Refusal => ({
    code: 'escalation_refused',
    because: `the agent that calls has ${callerWords(caller)}${doubt}; it may not start or feed an agent with wider access than its own, unless the operator sets --allow-escalation`,
  })
  if (rank(sandboxName(policy)) > rank(caller.sandbox)) return refuse('')
  if (hasNetwork(policy) && caller.sandbox !== 'danger-full-access')
    return refuse(', and its client does not tell whether with network')
  return undefined
}

/** Why an access is not allowed; undefined when it is. */
export const refuseAccess = (
  ceiling: Ceiling,
  caller: CallerAccess | undefined,
  access: Access,
): Refusal | undefined => {
  const policy = worstCase(access)
  const refusal = beyondCeiling(ceiling, policy)
  if (refusal !== undefined || caller === undefined || ceiling.escalation) return refusal
  return beyondCaller(caller, policy)
}

const isWithin = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)

/** Why a directory, by its real path, is not allowed; a path that cannot be followed (undefined) is in no root. */
export const refuseDirectory = (
  { allowRoots }: Ceiling,
  realPath: string | undefined,
): Refusal | undefined => {
  if (allowRoots.length === 0) return undefined
  if (realPath !== undefined && allowRoots.some((root) => isWithin(root, realPath))) return undefined
  return {
    code: 'ceiling_exceeded',
    because: `this bridge works only in ${allowRoots.join(', ')} (--allow-root)`,
  }
}
