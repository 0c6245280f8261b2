import { processOwner } from '@codex-thread-bridge/core/ledger'
import type { SandboxName } from '@codex-thread-bridge/core/protocol'
import type { Route } from './clis/route.ts'
import { firstCharacters } from './output/reading.ts'
import type { NewJob } from './store/job-store.ts'

const PROMPT_KEPT = 4_000

export interface NewRun {
  readonly requestId: string
  readonly route: Route
  /** The absolute path of the CLI. */
  readonly command: string
  readonly access: SandboxName
  readonly workFolder: string
  readonly prompt: string
  readonly askedModel: string | undefined
  readonly timeoutMs: number | undefined
  readonly name: string | undefined
}

/** A job as it is written down before its process starts. `now` is in seconds. */
export const newJob = (jobId: string, run: NewRun, now: number): NewJob => ({
  jobId,
  requestId: run.requestId,
  agent: run.route.cli.agent,
  name: run.name ?? null,
  model: run.route.model ?? null,
  askedModel: run.askedModel ?? null,
  effort: run.route.effort ?? null,
  access: run.access,
  workFolder: run.workFolder,
  prompt: firstCharacters(run.prompt, PROMPT_KEPT),
  sessionAsked: run.route.sessionId ?? null,
  createdAt: now,
  timeoutMs: run.timeoutMs ?? null,
  pid: null,
  startTime: null,
  bootId: processOwner().bootId,
  starter: JSON.stringify(processOwner()),
  status: 'running',
  outcome: null,
  exitCode: null,
  signal: null,
  endedAt: null,
  stopReason: null,
  stopAt: null,
  reason: null,
  foreignStdout: null,
  foreignStderr: null,
})
