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

/** kill_process (contract: jobs). */
export const killProcess = (jobs: Jobs) =>
  defineMutation({
    name: 'kill_process',
    title: 'End a background job',
    description:
      'Ends a job with everything that it has started, also tools that left its process group: the CLI is asked first in the way that makes it clean up, then, at the latest after grace_seconds, what still lives is killed. Answers when nothing of it lives any more, with how many processes were ended. The job is then failed / cancelled for good, whatever its CLI still says. A job that has ended already stays as it is.',
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
      const before = await jobs.settle(found)
      const told = { pid: before.pid, jobId: before.jobId }
      if (before.status !== 'running') {
        const { status: jobStatus, outcome } = before
        return { ...told, jobStatus, outcome, ended: 0, killed: 0, message: 'The job had ended already.' }
      }
      const graceMs = (input.grace_seconds ?? GRACE) * 1_000
      const { job, stopped } = await ctx.step('stop', () => jobs.stop(before, 'cancelled', graceMs))
      const survivors = stopped?.survivors ?? []
      if (survivors.length > 0)
        throw new BridgeError('job_not_ended', `Still alive after SIGKILL: ${survivors.join(', ')}.`)
      return {
        ...told,
        jobStatus: job.status,
        outcome: job.outcome,
        ended: stopped?.ended ?? 0,
        killed: stopped?.killed ?? 0,
        message: stopped === undefined ? 'The job had ended already.' : 'Nothing of the job lives any more.',
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
