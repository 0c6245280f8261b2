import { BridgeError, defineRead, given } from '@codex-thread-bridge/core/contract'
import { jsonBytes } from '@codex-thread-bridge/core/threads'
import { Type } from 'typebox'
import type { Jobs } from '../jobs.ts'
import { jobStatuses, outcomes, type JobRow } from '../store/job.ts'
import { timeOf } from './fields.ts'

const LIMIT = 50
const LIMIT_MAX = 200
const ROOM = 500

const cursorOf = ({ createdAt, seq }: JobRow): string => `j${createdAt}_${seq}`

const placeOf = (cursor: string) => {
  const [, createdAt, seq] = /^j(\d+(?:\.\d+)?)_(\d+)$/.exec(cursor) ?? []
  if (createdAt === undefined || seq === undefined)
    throw new BridgeError('invalid_cursor', 'That is no cursor of list_processes.', { field: 'cursor' })
  return { createdAt: Number(createdAt), seq: Number(seq) }
}

const shown = (row: JobRow) => ({
  ...(row.pid === null ? {} : { pid: row.pid }),
  job_id: row.jobId,
  agent: row.agent,
  status: row.status,
  ...(row.outcome === null ? {} : { outcome: row.outcome }),
  ...(row.name === null ? {} : { name: row.name }),
  workFolder: row.workFolder,
  startTime: timeOf(row.createdAt) ?? '',
  ...(row.endedAt === null ? {} : { endTime: timeOf(row.endedAt) ?? '' }),
})

/** list_processes (contract: jobs). */
export const listProcesses = (jobs: Jobs) =>
  defineRead({
    name: 'list_processes',
    title: 'List background jobs',
    description:
      'Lists the jobs of this host, newest first, those of earlier server processes too: running, completed (its CLI reported success) or failed, with the outcome (success, error, cancelled, timed_out, lost). It shows no prompts and no output: see get_result.',
    input: Type.Object(
      {
        status: Type.Optional(
          Type.Enum([...jobStatuses], { type: 'string', description: 'Only jobs of this status' }),
        ),
        limit: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: LIMIT_MAX,
            description: `How many jobs (1 to ${LIMIT_MAX}, default ${LIMIT})`,
          }),
        ),
        cursor: Type.Optional(
          Type.String({
            description: 'nextCursor of the page before, unchanged, as a string; empty: the first page',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({
      processes: Type.Array(
        Type.Object({
          pid: Type.Optional(Type.Integer()),
          job_id: Type.String(),
          agent: Type.String(),
          status: Type.Enum([...jobStatuses], { type: 'string' }),
          outcome: Type.Optional(Type.Enum([...outcomes], { type: 'string' })),
          name: Type.Optional(Type.String()),
          workFolder: Type.String(),
          startTime: Type.String(),
          endTime: Type.Optional(Type.String()),
        }),
      ),
      nextCursor: Type.Union([Type.String(), Type.Null()]),
    }),
    uses: [],
    examples: [
      { input: {}, answers: {} },
      { input: { status: 'failed', limit: 5 }, answers: {} },
    ],

    async run(ctx, { status, limit = LIMIT, cursor = '' }) {
      const store = await jobs.store()
      await jobs.settleRunning()
      const after = cursor === '' ? undefined : placeOf(cursor)
      const { rows, more } = store.list({ limit, ...given({ status, after }) })
      let kept = rows
      while (kept.length > 1 && jsonBytes(kept.map(shown)) > ctx.limits.resultBytes - ROOM)
        kept = kept.slice(0, Math.floor(kept.length / 2))
      const last = kept.at(-1)
      const goesOn = last !== undefined && (more || kept.length < rows.length)
      return { processes: kept.map(shown), nextCursor: goesOn ? cursorOf(last) : null }
    },
  })
