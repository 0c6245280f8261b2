import type { Cli } from './clis/cli.ts'
import type { Reading } from './output/reading.ts'
import type { ExitStatus } from './process/exit-status.ts'
import type { Ending, Job, StopReason } from './store/job.ts'

/** What is known when a job runs no more. */
export interface Evidence {
  readonly exit: ExitStatus | undefined
  /** The host was started anew since. */
  readonly rebooted: boolean
  /** It was written down, but no process was ever seen. */
  readonly neverStarted: boolean
  readonly endedAt: number
}

const stoppedAs: Readonly<Record<StopReason, Pick<Ending, 'outcome' | 'reason'>>> = {
  cancelled: { outcome: 'cancelled', reason: 'Ended by kill_process.' },
  timed_out: { outcome: 'timed_out', reason: 'Ended when its timeout_seconds were over.' },
  output_limit: { outcome: 'error', reason: 'Ended because its output grew above --jobs-max-output.' },
}

/** `reason`: the words of who stopped it, where there were any. */
type Stopped = Pick<Job, 'stopReason'> & Partial<Pick<Job, 'reason'>>

const whatBecame = (
  job: Stopped,
  cli: Cli,
  reading: Reading,
  { exit, rebooted, neverStarted }: Evidence,
): Pick<Ending, 'outcome' | 'reason'> => {
  if (job.stopReason !== null) {
    const { outcome, reason } = stoppedAs[job.stopReason]
    return { outcome, reason: job.reason ?? reason }
  }
  if (neverStarted) return { outcome: 'lost', reason: 'The bridge ended before it had started the process.' }
  if (exit === undefined && reading.closed === null) {
    const reason = rebooted
      ? 'The host was restarted while it ran.'
      : 'It ended without leaving an exit status.'
    return { outcome: 'lost', reason }
  }
  const { success, reason = null } = cli.judge(reading, exit)
  return { outcome: success ? 'success' : 'error', reason }
}

/** How a job that runs no more has ended: our own stop first, then what its CLI said, then its exit status. */
export const endingOf = (job: Stopped, cli: Cli, reading: Reading, evidence: Evidence): Ending => {
  const { outcome, reason } = whatBecame(job, cli, reading, evidence)
  return {
    status: outcome === 'success' ? 'completed' : 'failed',
    outcome,
    reason,
    exitCode: evidence.exit?.exitCode ?? null,
    signal: evidence.exit?.signal ?? null,
    endedAt: evidence.endedAt,
  }
}
