import { asBridgeError, BridgeError } from '@codex-thread-bridge/core/contract'
import type { Host } from '@codex-thread-bridge/core/host'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { compose, stateDirOf } from '../compose.ts'
import { jsonLog } from '../log.ts'
import type { BridgeOptions } from '../options.ts'
import { printableLines } from '../printable.ts'
import { table } from '../table.ts'
import { reportError, type Output } from './operations/output.ts'

const Str = Type.String()
const Maybe = Type.Optional(Str)

/** The members of the tools' answers that are shown. */
const pageShape = Compile(
  Type.Object({
    processes: Type.Array(
      Type.Object({
        job_id: Str,
        pid: Type.Optional(Type.Integer()),
        agent: Str,
        status: Str,
        outcome: Maybe,
        name: Maybe,
        workFolder: Str,
        startTime: Str,
      }),
    ),
    nextCursor: Type.Union([Str, Type.Null()]),
  }),
)
const resultShape = Compile(
  Type.Object({
    job_id: Str,
    agent: Str,
    status: Str,
    outcome: Maybe,
    reason: Maybe,
    exitCode: Type.Union([Type.Integer(), Type.Null()]),
    signal: Type.Union([Str, Type.Null()]),
    session_id: Type.Union([Str, Type.Null()]),
    workFolder: Maybe,
    startTime: Maybe,
    endTime: Maybe,
    unreadBytes: Type.Optional(Type.Integer()),
    agentOutput: Type.Object({
      message: Type.Union([Str, Type.Null()]),
      error: Type.Optional(Type.Object({ kind: Str, message: Str })),
    }),
  }),
)
const Event = Type.Object({ kind: Str, ts: Str, text: Maybe, tool: Maybe, phase: Maybe, summary: Maybe })
const peekShape = Compile(
  Type.Object({
    processes: Type.Array(
      Type.Object({
        status: Str,
        cursor: Type.Union([Str, Type.Null()]),
        truncated: Type.Boolean(),
        error: Type.Union([Str, Type.Null()]),
        events: Type.Array(Event),
      }),
    ),
  }),
)
const messageShape = Compile(Type.Object({ message: Maybe, status: Maybe }))

const isPid = (job: string): boolean => /^\d+$/.test(job)

/** A job by its id, or by the pid of its newest job. */
const named = (job: string): object => (isPid(job) ? { pid: Number(job) } : { job_id: job })

/** What is not a number stays as it is, for the tool to refuse. */
const numberOf = (text: string | undefined): unknown =>
  text === undefined || text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)

/** Runs `act` with the jobs tools, `empty` where there is no job and nothing is to be made; resolves to the exit code. */
const withJobs = async (
  options: BridgeOptions,
  output: Output,
  act: (host: Host) => Promise<void>,
  empty: () => void,
): Promise<number> => {
  const jobs = { ...options.jobs, supervise: false }
  const host = await compose({ ...options, plugins: ['jobs'], jobs }, jsonLog(options.logLevel))
  try {
    // Loaded when it is needed: the server starts faster.
    const { hasJobStore } = await import('@codex-thread-bridge/jobs')
    if (hasJobStore(stateDirOf(options))) await act(host)
    else empty()
    return 0
  } catch (error) {
    return reportError(asBridgeError(error), output)
  } finally {
    await host.close()
  }
}

const noSuchJob = (job: string) => (): never => {
  const what = isPid(job) ? `pid ${job}` : `job_id ${JSON.stringify(job)}`
  throw new BridgeError('unknown_job', `There is no job with ${what}.`)
}

interface Call {
  readonly tool: string
  readonly args: object
  readonly plain: (answer: unknown) => string
  /** The answer where there is no job. */
  readonly empty: () => unknown
}

const printCall = (options: BridgeOptions, output: Output, call: Call): Promise<number> => {
  const print = (answer: unknown): void =>
    console.log(output.json ? JSON.stringify(answer, null, 2) : call.plain(answer))
  const act = async (host: Host): Promise<void> => print(await host.call(call.tool, call.args))
  return withJobs(options, output, act, () => print(call.empty()))
}

const secondOf = (iso: string): string => iso.slice(0, 19).replace('T', ' ')

const listed = (answer: unknown): string => {
  const { processes, nextCursor } = pageShape.Parse(answer)
  if (processes.length === 0) return 'No jobs.'
  const rows = processes.map((job) => [
    secondOf(job.startTime),
    job.outcome ?? job.status,
    job.agent,
    String(job.pid ?? '-'),
    job.job_id,
    job.name ?? job.workFolder,
  ])
  const page = table([['STARTED (UTC)', 'STATUS', 'AGENT', 'PID', 'JOB', 'NAME OR FOLDER'], ...rows])
  return nextCursor === null ? page : `${page}\nMore: --cursor ${nextCursor}`
}

const shown = (answer: unknown): string => {
  const result = resultShape.Parse(answer)
  const { message, error } = result.agentOutput
  const exit =
    result.exitCode === null
      ? undefined
      : `${result.exitCode}${result.signal === null ? '' : ` (${result.signal})`}`
  const rows: (readonly [string, string | null | undefined])[] = [
    ['job', result.job_id],
    ['agent', result.agent],
    ['status', result.outcome === undefined ? result.status : `${result.status} (${result.outcome})`],
    ['reason', result.reason],
    ['exit', exit],
    ['folder', result.workFolder],
    ['started', result.startTime && secondOf(result.startTime)],
    ['ended', result.endTime && secondOf(result.endTime)],
    ['session', result.session_id],
    ['error', error && `${error.kind}: ${error.message}`],
    ['unread', result.unreadBytes === undefined ? undefined : `${result.unreadBytes} bytes of its output`],
  ]
  const told = table(rows.flatMap(([name, value]) => (value ? [[name, value]] : [])))
  return message === null ? told : `${told}\n\n${printableLines(message)}`
}

export interface JobFilter {
  readonly status?: string
  readonly limit?: string
  readonly cursor?: string
}

export const listJobs = (options: BridgeOptions, filter: JobFilter, output: Output): Promise<number> =>
  printCall(options, output, {
    tool: 'list_processes',
    args: { status: filter.status, limit: numberOf(filter.limit), cursor: filter.cursor },
    plain: listed,
    empty: () => ({ processes: [], nextCursor: null }),
  })

export const showJob = (options: BridgeOptions, job: string, output: Output): Promise<number> =>
  printCall(options, output, {
    tool: 'get_result',
    args: { ...named(job), verbose: true },
    plain: shown,
    empty: noSuchJob(job),
  })

const toldMessage = (answer: unknown): string => {
  const { message = '', status } = messageShape.Parse(answer)
  return status === undefined ? message : `${status}: ${message}`
}

export const killJob = (
  options: BridgeOptions,
  job: string,
  { grace }: { readonly grace?: string },
  output: Output,
): Promise<number> =>
  printCall(options, output, {
    tool: 'kill_process',
    args: { ...named(job), grace_seconds: numberOf(grace) },
    plain: toldMessage,
    empty: noSuchJob(job),
  })

export interface CleanFlags {
  readonly olderThan?: string
  readonly status?: string
  readonly deleteLogs?: boolean
}

export const cleanJobs = (options: BridgeOptions, flags: CleanFlags, output: Output): Promise<number> =>
  printCall(options, output, {
    tool: 'cleanup_processes',
    args: {
      older_than_hours: numberOf(flags.olderThan),
      status: flags.status,
      delete_logs: flags.deleteLogs,
    },
    plain: toldMessage,
    empty: () => ({ removed: 0, message: '0 jobs were removed.' }),
  })

const SLICE_SECONDS = 10

/** What a CLI prints can hold anything, its times too. */
const lineOf = ({ kind, ts, text = '', tool = '', phase = '', summary = '' }: Static<typeof Event>): string =>
  printableLines(`${secondOf(ts)}  ${kind === 'message' ? text : `[${tool} ${phase}] ${summary}`}`)

/** What the agent says and does, from the begin; with `follow` until the job has ended. */
export const tailJob = (
  options: BridgeOptions,
  job: string,
  { follow = false }: { readonly follow?: boolean },
  output: Output,
): Promise<number> => {
  const act = async (host: Host): Promise<void> => {
    const list = isPid(job) ? { pids: [Number(job)] } : { job_ids: [job] }
    for (let after = 'start'; ;) {
      const [found] = peekShape.Parse(
        await host.call('peek', {
          ...list,
          after: [after],
          include_tool_calls: true,
          peek_time_sec: follow ? SLICE_SECONDS : 1,
        }),
      ).processes
      if (found === undefined || found.cursor === null) return noSuchJob(job)()
      for (const event of found.events) console.log(output.json ? JSON.stringify(event) : lineOf(event))
      if (!found.truncated && (!follow || found.status !== 'running')) return
      after = found.cursor
    }
  }
  return withJobs(options, output, act, noSuchJob(job))
}
