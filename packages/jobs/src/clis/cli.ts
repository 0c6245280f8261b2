import type { SandboxName } from '@codex-thread-bridge/core/protocol'
import type { ExitStatus } from '../process/exit-status.ts'
import type { Agent } from '../store/job.ts'
import type { JobEvent } from '../output/events.ts'
import type { Reading } from '../output/reading.ts'

/** What a job asks of its CLI. The prompt comes on stdin. */
export interface RunRequest {
  readonly workFolder: string
  readonly model: string | undefined
  readonly effort: string | undefined
  readonly sessionId: string | undefined
  readonly access: SandboxName
  readonly timeoutMs: number | undefined
}

/** Whether a run that is over did what it should, and why not, where the CLI's own words do not say it. */
export interface Judgement {
  readonly success: boolean
  readonly reason?: string
}

/** Everything that is particular to one CLI. A further CLI is one more of these, and its samples. */
export interface Cli {
  readonly agent: Agent
  readonly title: string
  /** The environment variable that names the command. */
  readonly variable: string
  readonly command: string
  /** Where an installation of this user lies, below the home directory. */
  readonly localPath?: string
  /** Its own environment variables. */
  readonly variables: RegExp
  readonly efforts: readonly string[]
  /** The names of its models that are known here; it may take others. */
  readonly models: readonly string[]
  /** How a session id looks; what does not look so is not passed on. */
  readonly session: RegExp
  /** Asks it to end and to clean up after itself. */
  readonly stopSignal: NodeJS.Signals
  /** Of `events`, one JSON object a line, other lines are passed over; of `text` every line is read. */
  readonly output: 'events' | 'text'
  /** Why it cannot run with an access; undefined when it can. */
  refuseAccess?(access: SandboxName, isRoot: boolean): string | undefined
  args(run: RunRequest): readonly string[]
  /** Variables that the run needs besides. */
  environment?(run: RunRequest): Readonly<Record<string, string>>
  /** Takes one line of stdout into the reading; what happened, for peek. `now` is when it is read. */
  readLine(reading: Reading, line: string, now: string): readonly JobEvent[]
  /** `exit` is undefined when it could not be learned. */
  judge(reading: Reading, exit: ExitStatus | undefined): Judgement
}

const endedBy = (exit: ExitStatus | undefined): string => {
  if (exit === undefined) return ''
  return exit.signal === null ? ` (exit code ${exit.exitCode})` : ` (${exit.signal})`
}

/** The rule of CLIs with a closing event: it must be there and say success, and the exit code must not deny it. */
export const judgeByClosing = (
  title: string,
  { closed, error }: Reading,
  exit: ExitStatus | undefined,
): Judgement => {
  const cleanExit = exit === undefined || exit.exitCode === 0
  if (closed === 'success' && cleanExit) return { success: true }
  if (closed === 'success')
    return { success: false, reason: `${title} reported success, but ended badly${endedBy(exit)}.` }
  if (closed === 'error' || error !== null) return { success: false }
  return { success: false, reason: `${title} ended without its closing event${endedBy(exit)}.` }
}

/** The rule of CLIs that print plain text. */
export const judgeByText = (title: string, reading: Reading, exit: ExitStatus | undefined): Judgement => {
  if (exit?.exitCode !== 0 && exit !== undefined)
    return { success: false, reason: `${title} ended badly${endedBy(exit)}.` }
  if (reading.closed === 'success') return { success: true }
  return { success: false, reason: `${title} ended without an answer${endedBy(exit)}.` }
}
