import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '@codex-thread-bridge/core/contract'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { JobsOptions } from '../options.ts'
import { firstCharacters } from '../output/reading.ts'
import { exitStatusOf } from '../process/exit-status.ts'
import { agents } from '../store/job.ts'
import type { JobStore, NewJob } from '../store/job-store.ts'
import { lazily } from '../lazily.ts'

const REGISTRY_MAX = 256 * 1_048_576
const PROMPT_KEPT = 4_000

const registry = lazily(() =>
  Compile(Type.Object({ version: Type.Literal(1), processes: Type.Array(Type.Unknown()) })),
)

/** A finished job of the reference server, as its processes.json keeps it. */
const record = lazily(() =>
  Compile(
    Type.Object({
      pid: Type.Integer(),
      agent: Type.Enum([...agents], { type: 'string' }),
      status: Type.Enum(['completed', 'failed'], { type: 'string' }),
      startTime: Type.String(),
      endTime: Type.Optional(Type.String()),
      workFolder: Type.String(),
      prompt: Type.String(),
      model: Type.Optional(Type.String()),
      stdoutPath: Type.String(),
      stderrPath: Type.String(),
      exitCode: Type.Optional(Type.Integer()),
    }),
  ),
)

const secondsOf = (time: string | undefined): number | null => {
  const ms = Date.parse(time ?? '')
  return Number.isNaN(ms) ? null : ms / 1_000
}

/** Its id says where it comes from; a registry holds one job a pid. */
const jobOf = (value: unknown): NewJob[] => {
  if (!record().Check(value)) return []
  const createdAt = secondsOf(value.startTime) ?? 0
  const exit = value.exitCode === undefined ? undefined : exitStatusOf(value.exitCode)
  const success = value.status === 'completed'
  return [
    {
      jobId: `imported-${value.pid}-${Math.round(createdAt * 1_000)}`,
      requestId: null,
      agent: value.agent,
      name: null,
      model: value.model ?? null,
      askedModel: value.model ?? null,
      effort: null,
      access: null,
      workFolder: value.workFolder,
      prompt: firstCharacters(value.prompt, PROMPT_KEPT),
      sessionAsked: null,
      createdAt,
      timeoutMs: null,
      pid: value.pid,
      startTime: null,
      bootId: null,
      starter: null,
      status: value.status,
      outcome: success ? 'success' : exit === undefined ? 'lost' : 'error',
      exitCode: exit?.exitCode ?? null,
      signal: exit?.signal ?? null,
      endedAt: secondsOf(value.endTime) ?? createdAt,
      stopReason: null,
      stopAt: null,
      reason: 'Imported from the registry of another server, which judged by the exit code alone.',
      foreignStdout: value.stdoutPath,
      foreignStderr: value.stderrPath,
    },
  ]
}

const registryPath = ({ env, homedir }: Pick<JobsOptions, 'env' | 'homedir'>): string => {
  const configured = env.AGENT_BRIDGE_PROCESS_REGISTRY_DIR
  const directory =
    configured === undefined || configured === '' ? join(homedir, '.agent-bridge-mcp') : configured
  return join(directory, 'processes.json')
}

/**
 * Takes over the finished jobs of a reference server's registry, once; its files are only read. A registry that cannot
 * be read is told of in the log, and tried again at the next start.
 */
export const importReferenceJobs = (
  store: JobStore,
  options: Pick<JobsOptions, 'env' | 'homedir'>,
  now: number,
  log: Log,
): void => {
  const path = registryPath(options)
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined) return
  try {
    if (size > REGISTRY_MAX) throw new RangeError('it is too large')
    store.importOnce(path, now, () => {
      const { processes } = registry().Parse(JSON.parse(readFileSync(path, 'utf8')))
      const jobs = new Map(processes.flatMap(jobOf).map((job) => [job.jobId, job]))
      return [...jobs.values()]
    })
  } catch (error) {
    log('warn', 'registry_not_imported', { path, error: error instanceof Error ? error.name : 'unknown' })
  }
}
