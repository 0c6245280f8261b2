import { BridgeError } from '../contract/errors.ts'
import type { Ended } from './process.ts'

const STDERR_SHOWN = 2_000

/** A URL may carry a password. */
const withoutSecrets = (text: string): string => text.replaceAll(/:\/\/[^\s/@]+@/g, '://***@')

/** The line that says why: Git's advice may stand after it. */
const reasonIn = (stderr: string): string => {
  const lines = stderr.trim().split('\n')
  return lines.find((line) => /^(?:fatal|error): /.test(line)) ?? lines.at(-1) ?? ''
}

/** How a command went wrong, in words. */
const whatHappened = (ended: Ended, facts: Facts): string => {
  if (ended.stopped === 'timeout') {
    return `did not end within ${String(facts.timeoutMs / 1_000)} s and was killed`
  }
  if (ended.stopped === 'cancelled') return 'was killed because the call was cancelled'
  if (ended.stopped === 'too_much_output') return `answered with more than ${String(facts.maxStdout)} bytes`
  if (ended.startError !== undefined) return `could not be started in ${facts.cwd} (${ended.startError})`
  const how = ended.signal === undefined ? `exit code ${String(ended.exitCode)}` : ended.signal
  return `failed (${how}): ${withoutSecrets(reasonIn(ended.stderr))}`
}

interface Facts {
  readonly cwd: string
  readonly timeoutMs: number
  readonly maxStdout: number
  /** Whether the command may have changed something before it ended. */
  readonly changes: boolean
}

/** A command that failed, as an error with {command, exitCode, stderrTail}. */
export const failureOf = (args: readonly string[], ended: Ended, facts: Facts): BridgeError => {
  const command = ['git', ...args].map(withoutSecrets)
  const stderrTail = withoutSecrets(ended.stderr).slice(-STDERR_SHOWN)
  const details = { command, exitCode: ended.exitCode ?? null, stderrTail }
  const message = `git ${args[0] ?? ''} ${whatHappened(ended, facts)}`
  // What only looked left nothing behind, however it ended.
  if (ended.stopped === 'cancelled' && !facts.changes)
    return new BridgeError('cancelled', message, { details })
  const next = facts.changes ? 'inspect' : 'same_request_id'
  return new BridgeError(ended.stopped === 'timeout' ? 'git_timeout' : 'git_failed', message, {
    next,
    details,
  })
}
