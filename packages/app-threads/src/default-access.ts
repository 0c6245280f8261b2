import type { Caller } from '@codex-thread-bridge/core/contract'
import type { OperationsPort } from '@codex-thread-bridge/core/host'
import {
  accessOfParams,
  callerAccess,
  refuseAccess,
  type WantedAccess,
} from '@codex-thread-bridge/core/policy'

/** The built-in profiles, from wide to narrow. */
const NARROWER = [':danger-full-access', ':workspace', ':read-only']

/**
 * What a thread may do that names no access: the operator's default, or the next narrower built-in profile that the
 * ceiling and the caller's own access allow. The host's gate judges it again.
 */
export const defaultAccess = (
  operations: OperationsPort,
  caller: Caller,
  defaultPermissions: string,
): WantedAccess => {
  const { ceiling } = operations.describe().policy
  const own = callerAccess(caller.sandbox)
  const place = NARROWER.indexOf(defaultPermissions)
  const candidates = place === -1 ? [defaultPermissions, ...NARROWER.slice(1)] : NARROWER.slice(place)
  const allowed = candidates.find((permissions) =>
    accessOfParams({ permissions }).accesses.every(
      (access) => refuseAccess(ceiling, own, access) === undefined,
    ),
  )
  return { profile: allowed ?? defaultPermissions }
}
