import { Type } from 'typebox'
import { agents } from '../store/job.ts'

const ID_MAX = 128

export const jobId = Type.String({
  minLength: 1,
  maxLength: ID_MAX,
  description: `job_id of run or list_processes (1 to ${ID_MAX} characters)`,
})
export const pid = Type.Integer({
  minimum: 1,
  description: 'pid of a job (at least 1): its newest job is meant; job_id is safer',
})
export const requestId = Type.String({
  minLength: 1,
  maxLength: ID_MAX,
  pattern: '\\S',
  description: `Your id for this one intended action; repeat the same id after an uncertain answer (1 to ${ID_MAX} characters, not blank)`,
})
export const agent = (description: string) => Type.Enum([...agents], { type: 'string', description })

/** A list of jobs, by one of two names. */
export const jobLists = (most: number) => ({
  pids: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1 }), {
      minItems: 1,
      maxItems: most,
      description: `pids of jobs (1 to ${most}); or job_ids`,
    }),
  ),
  job_ids: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: ID_MAX }), {
      minItems: 1,
      maxItems: most,
      description: `job_ids (1 to ${most}); or pids`,
    }),
  ),
})

const oneOf = (input: Readonly<Record<string, unknown>>, first: string, second: string) =>
  (input[first] === undefined) === (input[second] === undefined)
    ? { field: first, message: `Exactly one of \`${first}\` and \`${second}\` is needed.` }
    : undefined

export const checkOneJob = (input: object) => oneOf({ ...input }, 'job_id', 'pid')
export const checkJobList = (input: object) => oneOf({ ...input }, 'job_ids', 'pids')

/** Epoch seconds as an ISO time. */
export const timeOf = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(seconds * 1_000).toISOString()
