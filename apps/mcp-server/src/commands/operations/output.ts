import type { BridgeError } from '@codex-thread-bridge/core/contract'
import { UsageError } from '../../options.ts'
import { printable } from '../../printable.ts'

export interface Output {
  readonly json: boolean
}

/** Says what went wrong, and gives the exit code. @throws UsageError when the command line was to blame */
export const reportError = ({ code, message, hint, field, next }: BridgeError, { json }: Output): number => {
  if (code === 'invalid_arguments' || code === 'invalid_cursor') throw new UsageError(message)
  if (json) console.log(JSON.stringify({ error: { code, message, hint, field, next } }, null, 2))
  else console.error(printable(`${code}: ${message} ${hint}`))
  return 1
}
