import { defineMutation, given } from '@codex-thread-bridge/core/contract'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Jobs } from '../jobs.ts'
import { requestId } from './fields.ts'
import { lazily } from '../lazily.ts'

const HOURS_MAX = 87_600
/** Of so many jobs the ids are told. */
const TOLD = 200

const removed = lazily(() =>
  Compile(
    Type.Object({
      removed: Type.Integer(),
      removedPids: Type.Array(Type.Integer()),
      removedJobIds: Type.Array(Type.String()),
      freedBytes: Type.Integer(),
      message: Type.String(),
    }),
  ),
)

/** cleanup_processes (contract: jobs). */
export const cleanupProcesses = (jobs: Jobs) =>
  defineMutation({
    name: 'cleanup_processes',
    title: 'Forget background jobs that have ended',
    description:
      'Takes jobs that have ended out of the lists, with delete_logs: true their prompt and output files too; without it the files stay in the state directory. Never touches a running job, nor the files of jobs that were imported from another server. Their request_ids stay known: repeating one does not start a job again.',
    input: Type.Object(
      {
        request_id: Type.Optional(requestId),
        older_than_hours: Type.Optional(
          Type.Number({
            minimum: 0,
            maximum: HOURS_MAX,
            description: `Only jobs that ended at least so many hours ago (0 to ${HOURS_MAX.toLocaleString('en-US')}, default 0)`,
          }),
        ),
        status: Type.Optional(
          Type.Enum(['completed', 'failed'], { type: 'string', description: 'Only jobs of this status' }),
        ),
        delete_logs: Type.Optional(
          Type.Boolean({ description: 'true: delete their prompts and output too (default false)' }),
        ),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({
      requestId: Type.String(),
      removed: Type.Optional(Type.Integer()),
      removedPids: Type.Optional(Type.Array(Type.Integer())),
      removedJobIds: Type.Optional(Type.Array(Type.String())),
      freedBytes: Type.Optional(Type.Integer()),
      message: Type.Optional(Type.String()),
      replayed: Type.Optional(Type.Boolean()),
    }),
    uses: [],
    examples: [{ input: { older_than_hours: 24 }, answers: {} }],

    async run(ctx, input) {
      await jobs.settleRunning()
      const gone = await ctx.step('remove', () =>
        jobs.remove({
          statuses: input.status === undefined ? ['completed', 'failed'] : [input.status],
          endedBefore: jobs.now() / 1_000 - (input.older_than_hours ?? 0) * 3_600,
          logs: input.delete_logs ?? false,
        }),
      )
      const told = gone.jobs.slice(0, TOLD)
      const kept = input.delete_logs === true ? '' : ' Their files were kept.'
      const more = gone.jobs.length > TOLD ? ` The first ${TOLD} are named.` : ''
      return {
        removed: gone.jobs.length,
        removedPids: told.flatMap(({ pid }) => (pid === null ? [] : [pid])),
        removedJobIds: told.map(({ jobId }) => jobId),
        freedBytes: gone.freedBytes,
        message: `${gone.jobs.length} jobs were removed.${gone.jobs.length === 0 ? '' : kept}${more}`,
      }
    },

    async reconcileHere() {
      return { verdict: 'unknowable', looked: { reason: 'see list_processes; removing may be repeated' } }
    },

    answer: (receipt) =>
      receipt.status === 'accepted'
        ? { requestId: receipt.requestId, ...given({ replayed: receipt.replayed }), ...picked(receipt) }
        : receipt,
  })

const picked = (receipt: unknown) => {
  const { removed: count, removedPids, removedJobIds, freedBytes, message } = removed().Parse(receipt)
  return { removed: count, removedPids, removedJobIds, freedBytes, message }
}
