import { Type, type Static } from 'typebox'

const Str = Type.String()
const Maybe = <const T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])
const enumOf = <const T extends string[]>(values: readonly [...T]) => Type.Enum(values, { type: 'string' })

export const agents = ['claude', 'codex', 'opencode', 'forge', 'antigravity'] as const
export type Agent = (typeof agents)[number]

export const jobStatuses = ['running', 'completed', 'failed'] as const
export type JobStatus = (typeof jobStatuses)[number]

export const outcomes = ['success', 'error', 'cancelled', 'timed_out', 'lost'] as const
export type Outcome = (typeof outcomes)[number]

/** Why we ended a job before it ended itself; the first reason stays. */
export const stopReasons = ['cancelled', 'timed_out', 'output_limit'] as const
export type StopReason = (typeof stopReasons)[number]

/** One background run of a CLI, as the store keeps it. Times are seconds since the epoch, fractional. */
export const Job = Type.Object({
  /** Grows by one a job, never used again. */
  seq: Type.Integer(),
  jobId: Str,
  requestId: Maybe(Str),
  agent: enumOf(agents),
  name: Maybe(Str),
  model: Maybe(Str),
  /** What was asked for: alias or model name, for display. */
  askedModel: Maybe(Str),
  effort: Maybe(Str),
  access: Maybe(Str),
  workFolder: Str,
  /** The beginning of the prompt. */
  prompt: Str,
  sessionAsked: Maybe(Str),
  createdAt: Type.Number(),
  timeoutMs: Maybe(Type.Integer()),
  /** The wrapper that runs the CLI; the leader of the job's session and group. */
  pid: Maybe(Type.Integer()),
  startTime: Maybe(Str),
  bootId: Maybe(Str),
  /** The bridge process that starts the job, until pid is known. */
  starter: Maybe(Str),
  status: enumOf(jobStatuses),
  outcome: Maybe(enumOf(outcomes)),
  exitCode: Maybe(Type.Integer()),
  signal: Maybe(Str),
  endedAt: Maybe(Type.Number()),
  stopReason: Maybe(enumOf(stopReasons)),
  stopAt: Maybe(Type.Number()),
  /** Why it ended as it did, in words; null when the CLI's own words say it. */
  reason: Maybe(Str),
  /** Logs of another server that are only read. */
  foreignStdout: Maybe(Str),
  foreignStderr: Maybe(Str),
})
export type Job = Static<typeof Job>

/** What a list shows of a job. */
export type JobRow = Pick<
  Job,
  'seq' | 'jobId' | 'agent' | 'status' | 'outcome' | 'name' | 'pid' | 'workFolder' | 'createdAt' | 'endedAt'
>

/** How a job ended. */
export interface Ending {
  readonly status: Exclude<JobStatus, 'running'>
  readonly outcome: Outcome
  readonly exitCode: number | null
  readonly signal: string | null
  readonly endedAt: number
  readonly reason: string | null
}
