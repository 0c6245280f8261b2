import { BridgeError, defineMutation, given } from '@codex-thread-bridge/core/contract'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Jobs } from '../jobs.ts'
import { checkOneJob, jobId, pid, requestId } from './fields.ts'
import { lazily } from '../lazily.ts'

const GRACE = 10
const GRACE_MAX = 30

const killed = lazily(() =>
  Compile(
    Type.Object({
      pid: Type.Union([Type.Integer(), Type.Null()]),
      jobId: Type.String(),
      jobStatus: Type.String(),
      outcome: Type.Union([Type.String(), Type.Null()]),
      ended: Type.Integer(),
      killed: Type.Integer(),
      message: Type.String(),
    }),
  ),
)

/** What was looked for at last, and no more than that. */
const NONE_FOUND =
  process.platform === 'linux'
    ? 'No process lives any more in its process group, below its main process, or with its job id in the environment.'
    : 'No process lives any more in its process group or below its main process.'

const wordsOfLeftovers = (ended: number): string => {
  const had = 'The job had ended already'
  if (ended === 0) return `${had}.`
  return `${had}; ${ended === 1 ? '1 process that it had left running was' : `${ended} processes that it had left running were`} ended.`
}

/** kill_process (contract: jobs). */
export const killProcess = (jobs: Jobs) =>
  defineMutation({
    name: 'kill_process',
    title: 'End a background job',
    description:
      'Ends a job with everything that it has started, also tools that left its process group: the CLI is asked first in the way that makes it clean up, then, at the latest after grace_seconds, what still lives is killed. Answers when none is left in its process group, below its main process or (Linux) with its job id in the environment, with how many were ended; a process that left all three is not found. The job is then failed / cancelled for good, whatever its CLI still says. A job that has ended already stays as it is; what it left running is ended.',
    input: Type.Object(
      {
        request_id: Type.Optional(requestId),
        job_id: Type.Optional(jobId),
        pid: Type.Optional(pid),
        grace_seconds: Type.Optional(
          Type.Number({
            minimum: 0,
            maximum: GRACE_MAX,
            description: `Seconds that the CLI may take to end by itself (0 to ${GRACE_MAX}, default ${GRACE})`,
          }),
        ),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({
      requestId: Type.String(),
      status: Type.String({ description: 'Of the job; else the status of the receipt' }),
      pid: Type.Optional(Type.Integer()),
      job_id: Type.Optional(Type.String()),
      outcome: Type.Optional(Type.String()),
      ended: Type.Optional(Type.Integer()),
      killed: Type.Optional(Type.Integer()),
      message: Type.Optional(Type.String()),
      replayed: Type.Optional(Type.Boolean()),
    }),
    uses: [],
    examples: [{ input: { job_id: 'job-example' }, answers: {} }],
    check: checkOneJob,

    async run(ctx, input) {
      const found = await jobs.find(input)
      const graceMs = (input.grace_seconds ?? GRACE) * 1_000
      const { job, before, stopped } = await ctx.step('stop', () =>
        jobs.stop(found, { reason: 'cancelled' }, graceMs),
      )
      const { ended, killed: needed, survivors } = stopped
      if (survivors.length > 0)
        throw new BridgeError('job_not_ended', `Still alive after SIGKILL: ${survivors.join(', ')}.`)
      return {
        pid: job.pid,
        jobId: job.jobId,
        jobStatus: job.status,
        outcome: job.outcome,
        ended,
        killed: needed,
        message: before ? wordsOfLeftovers(ended) : NONE_FOUND,
      }
    },

    async reconcileHere(receipt) {
      return {
        verdict: 'unknowable',
        looked: { reason: `see get_result of the job; ${receipt.operation} may be repeated` },
      }
    },

    answer(receipt) {
      if (receipt.status !== 'accepted') return receipt
      const { jobId: id, jobStatus, outcome, pid: number, ...rest } = killed().Parse(receipt)
      return {
        requestId: receipt.requestId,
        ...given({ pid: number ?? undefined, outcome: outcome ?? undefined, replayed: receipt.replayed }),
        job_id: id,
        status: jobStatus,
        ended: rest.ended,
        killed: rest.killed,
        message: rest.message,
      }
    },
  })
