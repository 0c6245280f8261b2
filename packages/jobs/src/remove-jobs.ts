import { jobFiles, removeJobFiles } from './process/job-files.ts'
import type { Job, JobStatus } from './store/job.ts'
import type { JobStore } from './store/job-store.ts'

const PAGE = 100

/** Which jobs are to be forgotten. */
export interface Unwanted {
  readonly statuses: readonly JobStatus[]
  /** Seconds since the epoch. */
  readonly endedBefore: number
  /** Their prompts and output too. */
  readonly logs: boolean
}

export interface Removed {
  readonly jobs: readonly Pick<Job, 'jobId' | 'pid'>[]
  readonly freedBytes: number
}

/** Forgets jobs that have ended, with their logs if wanted; never a running one, never another server's files. */
export const removeJobs = async (store: JobStore, stateDir: string, wanted: Unwanted): Promise<Removed> => {
  const jobs: Pick<Job, 'jobId' | 'pid'>[] = []
  let freedBytes = 0
  for (const status of wanted.statuses) {
    for (let after = 0; ;) {
      const page = store.endedBefore(status, wanted.endedBefore, after, PAGE)
      for (const { jobId, pid } of page) {
        if (!store.remove(jobId)) continue
        jobs.push({ jobId, pid })
        if (wanted.logs) freedBytes += await removeJobFiles(jobFiles(stateDir, jobId))
      }
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) break
      after = last.seq
    }
  }
  return { jobs, freedBytes }
}
