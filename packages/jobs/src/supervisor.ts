import type { Log } from '@codex-thread-bridge/core/contract'
import { fileSize, jobFiles } from './process/job-files.ts'
import type { Job, StopReason } from './store/job.ts'

const BUSY_MS = 1_000
const IDLE_MS = 5_000
const SOONEST_MS = 20
const GRACE_MS = 10_000
/** The longest grace, and what follows it. */
const LONGEST_STOP_MS = 45_000

/** Why a job is ended; the words where there are more to say than the reason. */
export interface Stop {
  readonly reason: StopReason
  readonly words?: string
}

export interface SupervisorParts {
  readonly stateDir: string
  readonly maxOutputBytes: number
  readonly now: () => number
  readonly log: Log
  readonly running: () => readonly Job[]
  /** Looks whether it still runs. */
  readonly look: (job: Job) => void
  readonly stop: (job: Job, stop: Stop, graceMs: number) => Promise<unknown>
}

/**
 * Ends jobs that are over their limits, whoever started them, and looks for ends that no event told of. Every bridge
 * process on a store does so while it lives.
 */
export class Supervisor {
  readonly #parts: SupervisorParts
  readonly #stopping = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(parts: SupervisorParts) {
    this.#parts = parts
  }

  /** Looks now, and then again as often as needed. */
  wake(): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.wake(), this.#round()).unref()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  /** One look at every running job; how long until the next, in milliseconds. */
  #round(): number {
    try {
      const jobs = this.#parts.running()
      for (const job of jobs) this.#check(job)
      const deadlines = jobs.flatMap(({ createdAt, timeoutMs }) =>
        timeoutMs === null ? [] : [createdAt * 1_000 + timeoutMs - this.#parts.now()],
      )
      return jobs.length === 0 ? IDLE_MS : Math.max(SOONEST_MS, Math.min(BUSY_MS, ...deadlines))
    } catch (error) {
      this.#parts.log('warn', 'jobs_not_supervised', {
        error: error instanceof Error ? error.name : 'unknown',
      })
      return IDLE_MS
    }
  }

  #check(job: Job): void {
    this.#parts.look(job)
    const stop = this.#abandoned(job) ?? this.#overLimit(job)
    if (stop === undefined || this.#stopping.has(job.jobId)) return
    this.#stopping.add(job.jobId)
    this.#parts
      .stop(job, stop, GRACE_MS)
      .catch(() => this.#parts.log('warn', 'job_not_stopped', { jobId: job.jobId, reason: stop.reason }))
      .finally(() => this.#stopping.delete(job.jobId))
  }

  /** Whoever wanted to end it must have died meanwhile. */
  #abandoned({ stopReason, stopAt }: Job): Stop | undefined {
    if (stopReason === null || stopAt === null) return undefined
    return this.#parts.now() > stopAt * 1_000 + LONGEST_STOP_MS ? { reason: stopReason } : undefined
  }

  #overLimit({ jobId, createdAt, timeoutMs, stopReason }: Job): Stop | undefined {
    if (stopReason !== null) return undefined
    const { now, maxOutputBytes, stateDir } = this.#parts
    if (timeoutMs !== null && now() >= createdAt * 1_000 + timeoutMs) return { reason: 'timed_out' }
    const { stdout, stderr } = jobFiles(stateDir, jobId)
    const bytes = fileSize(stdout) + fileSize(stderr)
    if (bytes <= maxOutputBytes) return undefined
    const words = `Ended because its output grew to ${bytes} bytes, above the limit of ${maxOutputBytes} bytes: raise --jobs-max-output.`
    return { reason: 'output_limit', words }
  }
}
