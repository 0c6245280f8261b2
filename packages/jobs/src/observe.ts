import type { Jobs } from './jobs.ts'
import type { Job } from './store/job.ts'

export interface Observation {
  /** Ends the observing when it says so; asked at the begin and after every change. */
  readonly enough: (jobs: readonly Job[]) => boolean
  /** At most so long. */
  readonly ms: number
  readonly signal: AbortSignal
  /** A job has ended. */
  readonly onEnd?: (job: Job) => void
  /** A job's output has grown, or it has ended. */
  readonly onChange?: (job: Job) => void
}

/**
 * Watches jobs until there is enough to see, or the time is over. Driven by events: the jobs' directories are watched, and one
 * watch serves every observer.
 * @returns the jobs as they stand at the end
 * @throws the signal's reason
 */
export const observe = async (
  jobs: Jobs,
  asked: readonly Job[],
  what: Observation,
): Promise<readonly Job[]> => {
  const now = new Map(asked.map((job) => [job.jobId, job]))
  const standing = (): readonly Job[] => asked.map((job) => now.get(job.jobId) ?? job)
  let done: () => void = () => undefined
  const enough = new Promise<void>((resolve) => (done = resolve))
  const see = (job: Job): void => {
    const before = now.get(job.jobId)
    now.set(job.jobId, job)
    what.onChange?.(job)
    if (before?.status === 'running' && job.status !== 'running') what.onEnd?.(job)
    if (what.enough(standing())) done()
  }
  const stops: (() => void)[] = []
  try {
    for (const job of asked) {
      if (job.status !== 'running') continue
      const live = await jobs.live(job)
      stops.push(live.subscribe(see))
      live.glance()
    }
    if (what.enough(standing())) done()
    await untilThen(enough, what)
    what.signal.throwIfAborted()
    return standing()
  } finally {
    for (const stop of stops) stop()
  }
}

const untilThen = async (
  enough: Promise<void>,
  { ms, signal }: Pick<Observation, 'ms' | 'signal'>,
): Promise<void> => {
  let wake: () => void = () => undefined
  const over = new Promise<void>((resolve) => (wake = resolve))
  const timer = setTimeout(wake, Math.max(0, ms))
  signal.addEventListener('abort', wake)
  if (signal.aborted) wake()
  await Promise.race([enough, over])
  clearTimeout(timer)
  signal.removeEventListener('abort', wake)
}
