import type { SandboxName } from '@codex-thread-bridge/core/protocol'
import type { Environment } from './clis/locate.ts'
import type { Agent } from './store/job.ts'

/** What the operator of the bridge decides. */
export interface JobsOptions {
  /** Where jobs.sqlite3 and the jobs' files are kept, private. */
  readonly stateDir: string
  /** The bridge's own environment: where CLIs are looked for, and what they may have of it. */
  readonly env: Environment
  readonly homedir: string
  readonly isRoot: boolean
  /** Directories besides a job's own work folder from which prompt files may come. */
  readonly allowRoots: readonly string[]
  /** For calls that name neither agent nor model; the first installed of claude, codex, opencode unless given. */
  readonly agent: Agent | undefined
  readonly access: SandboxName
  /** Names of further environment variables that CLIs get. */
  readonly addedVariables: readonly string[]
  readonly maxRunning: number
  /** Bytes of stdout and stderr of one job. */
  readonly maxOutputBytes: number
  /** False: jobs over their limits are left to the bridges that serve; for commands that only look. */
  readonly supervise?: boolean
}

/** What holds where the operator sets nothing. */
export const jobsDefaults = {
  allowRoots: [],
  agent: undefined,
  access: 'workspace-write',
  addedVariables: [],
  maxRunning: 16,
  maxOutputBytes: 1_073_741_824,
} as const satisfies Partial<JobsOptions>
