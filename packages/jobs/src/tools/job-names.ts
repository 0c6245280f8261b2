import { asBridgeError } from '@codex-thread-bridge/core/contract'
import type { JobName, Jobs } from '../jobs.ts'
import type { Job } from '../store/job.ts'

/** A job that was asked for, or why there is none. */
export type Asked =
  | { readonly name: JobName; readonly job: Job }
  | { readonly name: JobName; readonly job: undefined; readonly error: { code: string; message: string } }

/** The jobs of a list in the order they were first named, each once. */
export const namedJobs = async (
  jobs: Jobs,
  {
    pids = [],
    job_ids: jobIds = [],
  }: { readonly pids?: readonly number[]; readonly job_ids?: readonly string[] },
): Promise<readonly Asked[]> => {
  const names: readonly JobName[] = [
    ...[...new Set(jobIds)].map((job_id) => ({ job_id })),
    ...[...new Set(pids)].map((pid) => ({ pid })),
  ]
  return Promise.all(
    names.map(async (name): Promise<Asked> => {
      try {
        return { name, job: await jobs.find(name) }
      } catch (thrown) {
        const { code, message } = asBridgeError(thrown)
        if (code !== 'unknown_job') throw thrown
        return { name, job: undefined, error: { code, message } }
      }
    }),
  )
}
