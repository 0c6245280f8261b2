import { asBridgeError, BridgeError } from '@codex-thread-bridge/core/contract'
import type { Host } from '@codex-thread-bridge/core/host'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { compose } from '../compose.ts'
import { jsonLog } from '../log.ts'
import type { BridgeOptions } from '../options.ts'
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
    agentOutput: Type.Object({
      message: Type.Union([Str, Type.Null()]),
      error: Type.Optional(Type.Object({ kind: Str, message: Str })),
    }),
  }),
)
const peekShape = Compile(
  Type.Object({
    processes: Type.Array(
      Type.Object({
        status: Str,
        cursor: Type.Union([Str, Type.Null()]),
        truncated: Type.Boolean(),
        error: Type.Union([Str, Type.Null()]),
        events: Type.Array(
          Type.Object({ kind: Str, ts: Str, text: Maybe, tool: Maybe, phase: Maybe, summary: Maybe }),
        ),
      }),
    ),
  }),
)
const messageShape = Compile(Type.Object({ message: Maybe, status: Maybe }))

/** A job by its id, or by the pid of its newest job. */
const named = (job: string): object => (/^\d+$/.test(job) ? { pid: Number(job) } : { job_id: job })

/** What is not a number stays as it is, for the tool to refuse. */
const numberOf = (text: string | undefined): unknown =>
  text === undefined || text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)

/** Runs `act` with the jobs tools; resolves to the exit code. */
const withJobs = async (
  options: BridgeOptions,
  output: Output,
  act: (host: Host) => Promise<void>,
): Promise<number> => {
  const host = await compose({ ...options, plugins: ['jobs'] }, jsonLog(options.logLevel))
  try {
    await act(host)
    return 0
  } catch (error) {
    return reportError(asBridgeError(error), output)
  } finally {
    await host.close()
  }
}

const printCall = (
  options: BridgeOptions,
  output: Output,
  call: { readonly tool: string; readonly args: object; readonly plain: (answer: unknown) => string },
): Promise<number> =>
  withJobs(options, output, async (host) => {
    const answer = await host.call(call.tool, call.args)
    console.log(output.json ? JSON.stringify(answer, null, 2) : call.plain(answer))
  })

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
  ]
  const told = table(rows.flatMap(([name, value]) => (value ? [[name, value]] : [])))
  return message === null ? told : `${told}\n\n${message}`
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
  })

export const showJob = (options: BridgeOptions, job: string, output: Output): Promise<number> =>
  printCall(options, output, { tool: 'get_result', args: { ...named(job), verbose: true }, plain: shown })

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
  })

const SLICE_SECONDS = 10

/** What the agent says and does, from the begin; with `follow` until the job has ended. */
export const tailJob = (
  options: BridgeOptions,
  job: string,
  { follow = false }: { readonly follow?: boolean },
  output: Output,
): Promise<number> =>
  withJobs(options, output, async (host) => {
    const list = /^\d+$/.test(job) ? { pids: [Number(job)] } : { job_ids: [job] }
    for (let after = 'start'; ;) {
      const [found] = peekShape.Parse(
        await host.call('peek', {
          ...list,
          after: [after],
          include_tool_calls: true,
          peek_time_sec: follow ? SLICE_SECONDS : 1,
        }),
      ).processes
      if (found === undefined || found.cursor === null)
        throw new BridgeError('unknown_job', `There is no job ${job}.`)
      for (const event of found.events) {
        const { kind, ts, text = '', tool = '', phase = '', summary = '' } = event
        if (output.json) console.log(JSON.stringify(event))
        else
          console.log(
            kind === 'message'
              ? `${secondOf(ts)}  ${text}`
              : `${secondOf(ts)}  [${tool} ${phase}] ${summary}`,
          )
      }
      if (!found.truncated && (!follow || found.status !== 'running')) return
      after = found.cursor
    }
  })
