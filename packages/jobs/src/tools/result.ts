import type { ReadContext } from '@codex-thread-bridge/core/contract'
import { clipTexts, halveTexts, jsonBytes } from '@codex-thread-bridge/core/threads'
import { Type } from 'typebox'
import type { Jobs, Told } from '../jobs.ts'
import { RunError, ToolUse, Usage, type Reading } from '../output/reading.ts'
import { readPiece, readTail } from '../output/tail.ts'
import { outputFiles } from '../process/job-files.ts'
import { jobStatuses, outcomes, type Job } from '../store/job.ts'
import { timeOf } from './fields.ts'

const STDERR_TAIL_BYTES = 4_000
const ERROR_TAIL_BYTES = 1_000
const CLIP_CHARS = 2_000
const SHORTEST_CLIP = 100
/** No message is cut shorter than this to make an answer fit. */
const LEAST_BYTES = 200

const Str = Type.String()

/** What is told of a job: get_result, and each result of wait. */
export const ResultShape = {
  pid: Type.Optional(Type.Integer()),
  job_id: Str,
  agent: Str,
  status: Type.Enum([...jobStatuses], { type: 'string' }),
  outcome: Type.Optional(Type.Enum([...outcomes], { type: 'string' })),
  reason: Type.Optional(Str),
  exitCode: Type.Union([Type.Integer(), Type.Null()]),
  signal: Type.Union([Str, Type.Null()]),
  model: Type.Union([Str, Type.Null()]),
  session_id: Type.Union([Str, Type.Null()]),
  agentOutput: Type.Object({
    message: Type.Union([Str, Type.Null()]),
    text: Type.Optional(Str),
    error: Type.Optional(RunError),
    retrying: Type.Optional(Str),
  }),
  usage: Type.Optional(Usage),
  cost: Type.Optional(Type.Number()),
  durationMs: Type.Number(),
  unreadBytes: Type.Optional(Type.Integer()),
  truncated: Type.Boolean(),
  nextOffset: Type.Optional(Type.Integer()),
  startTime: Type.Optional(Str),
  endTime: Type.Optional(Str),
  workFolder: Type.Optional(Str),
  prompt: Type.Optional(Str),
  name: Type.Optional(Str),
  access: Type.Optional(Str),
  tools: Type.Optional(Type.Array(ToolUse)),
  toolCount: Type.Optional(Type.Integer()),
  stderr: Type.Optional(Str),
} as const

export interface Window {
  readonly stream: 'message' | 'stdout' | 'stderr'
  readonly offset: number
  readonly maxBytes: number
}

const given = <T>(name: string, value: T | null | undefined): Readonly<Record<string, T>> =>
  value === null || value === undefined ? {} : { [name]: value }

/** Text of some bytes from an offset, whole characters only. */
const cut = (
  text: string,
  offset: number,
  maxBytes: number,
): { text: string; next: number; more: boolean } => {
  const all = Buffer.from(text)
  let end = Math.min(all.length, offset + maxBytes)
  while (end < all.length && end > offset && ((all[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return { text: all.subarray(offset, end).toString('utf8'), next: end, more: end < all.length }
}

const NO_SESSION = /(session|rollout|conversation).*not found|no (rollout|conversation|session)/i

/** What its words tell of a failed run that reported no error. */
const kindOf = (words: string, reading: Reading): RunError['kind'] => {
  if (NO_SESSION.test(words)) return 'session'
  return reading.closed === null ? 'no_closing_event' : 'other'
}

/** The CLI's own error; else what it left on stderr or among its output, when it failed. */
const errorOf = async (jobs: Jobs, job: Job, reading: Reading): Promise<RunError | undefined> => {
  if (job.stopReason === 'output_limit' && job.reason !== null)
    return { kind: 'output_limit', message: job.reason }
  if (reading.error !== null) return reading.error
  if (job.status !== 'failed' || (job.outcome !== 'error' && job.outcome !== 'lost')) return undefined
  if (reading.retrying !== null) return reading.retrying
  const tail = await readTail(outputFiles(jobs.options.stateDir, job).stderr, ERROR_TAIL_BYTES)
  const words = [tail, reading.strangeText].find((text) => text !== '') ?? job.reason ?? 'It left no words.'
  return { kind: kindOf(words, reading), message: words }
}

const bare = async (jobs: Jobs, job: Job, { reading, unread }: Told) => {
  const end = job.endedAt ?? jobs.now() / 1_000
  const error = await errorOf(jobs, job, reading)
  return {
    ...given('pid', job.pid),
    job_id: job.jobId,
    agent: job.agent,
    status: job.status,
    ...given('outcome', job.outcome),
    ...given('reason', job.reason),
    exitCode: job.exitCode,
    signal: job.signal,
    model: reading.model ?? job.model,
    session_id: reading.sessionId,
    agentOutput: { message: null, ...given('error', error), ...given('retrying', reading.retrying?.message) },
    ...given('usage', reading.usage),
    ...given('cost', reading.costUsd),
    durationMs: Math.max(0, Math.round((end - job.createdAt) * 1_000)),
    ...(unread === 0 ? {} : { unreadBytes: unread }),
  }
}

const details = async (jobs: Jobs, job: Job, reading: Reading) => ({
  startTime: timeOf(job.createdAt) ?? '',
  ...given('endTime', timeOf(job.endedAt)),
  workFolder: job.workFolder,
  ...given('name', job.name),
  ...given('access', job.access),
  prompt: job.prompt,
  tools: [...reading.tools],
  toolCount: reading.toolCount,
  stderr: await readTail(outputFiles(jobs.options.stateDir, job).stderr, STDERR_TAIL_BYTES),
})

const windowed = async (jobs: Jobs, job: Job, reading: Reading, window: Window, maxBytes: number) => {
  if (window.stream === 'message') {
    const message = reading.message
    if (message === null) return { output: { message }, next: window.offset, more: false }
    const { text, next, more } = cut(message, window.offset, maxBytes)
    return { output: { message: text }, next, more }
  }
  const path = outputFiles(jobs.options.stateDir, job)[window.stream]
  const { text, next, size } = await readPiece(path, window.offset, maxBytes)
  return { output: { message: null, text }, next, more: next < size }
}

/** What is left are words of the CLI, prompt and stderr: they are clipped, or left out with the rest of the details. */
const clippedResult = <A extends { readonly truncated: boolean }, T extends object>(
  answer: A,
  told: T,
  budget: number,
) => {
  const fits = <V>(value: V): V | undefined =>
    halveTexts(CLIP_CHARS, (maxChars) => {
      const clipped = clipTexts(value, maxChars).value
      return jsonBytes(clipped) <= budget ? clipped : undefined
    })
  const truncated = true
  return fits({ ...answer, truncated }) ?? clipTexts({ ...told, truncated }, SHORTEST_CLIP).value
}

/** The output of a job is read for so long before the job is told of as far as it was read. */
const READING_MS = 3_000
/** Kept of the call budget for the answer itself. */
const ANSWER_MS = 1_000

/** How long a call may read, in milliseconds. */
export const readingTime = ({ deadline, clock }: Pick<ReadContext<never>, 'deadline' | 'clock'>): number =>
  Math.max(0, Math.min(READING_MS, deadline - clock.now() - ANSWER_MS))

/** What a job's output says, within a budget: the text is cut, then old tools are left out, until it fits. */
export const resultOf = async (
  jobs: Jobs,
  job: Job,
  {
    told: read,
    verbose,
    window,
    budget,
  }: { readonly told: Told; readonly verbose: boolean; readonly window: Window; readonly budget: number },
) => {
  const { reading } = read
  const told = await bare(jobs, job, read)
  const more = verbose ? await details(jobs, job, reading) : undefined
  for (let maxBytes = window.maxBytes, tools = more?.tools.length ?? 0; ;) {
    const shown = await windowed(jobs, job, reading, window, maxBytes)
    const answer = {
      ...told,
      agentOutput: { ...told.agentOutput, ...shown.output },
      truncated: shown.more || tools < (more?.toolCount ?? 0),
      ...(shown.more ? { nextOffset: shown.next } : {}),
      ...(more === undefined ? {} : { ...more, tools: tools === 0 ? [] : more.tools.slice(-tools) }),
    }
    if (jsonBytes(answer) <= budget) return answer
    if (maxBytes <= LEAST_BYTES && tools === 0) return clippedResult(answer, told, budget)
    if (tools > 0) tools = Math.floor(tools / 2)
    else maxBytes = Math.max(LEAST_BYTES, Math.floor(maxBytes / 2))
  }
}
