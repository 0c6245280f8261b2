import { setTimeout as sleep } from 'node:timers/promises'
import { processFacts, processOwner } from '@codex-thread-bridge/core/ledger'
import type { Job } from '../store/job.ts'
import { jobTree, type Whose } from './job-tree.ts'
import type { ProcessRow } from './process-table.ts'

/** How long what the CLI has left behind may take to end by itself. */
const STRAGGLERS_MS = 300
/** How long the system may take to end what was killed. */
const KILLED_MS = 5_000
const WRAPPER_MS = 3_000
const FIRST_LOOK_MS = 10
const SLOWEST_LOOK_MS = 100

/** What a stop ended, and what it could not end. */
export interface Stopped {
  /** Processes of the job that lived when the stop began or came up meanwhile, the wrapper left out. */
  readonly ended: number
  /** How many of them needed SIGKILL. */
  readonly killed: number
  readonly survivors: readonly number[]
}

const lives = ({ pid, startTime }: ProcessRow): boolean => {
  const facts = processFacts(pid)
  return facts !== undefined && facts.startTime === startTime && facts.state !== 'Z' && facts.state !== 'X'
}

/** To the very process that was seen: its pid may be another's by now. */
const signal = (row: ProcessRow, name: NodeJS.Signals): void => {
  if (!lives(row)) return
  try {
    process.kill(row.pid, name)
  } catch {
    // It ended in between, or is not ours to end: the last look tells.
  }
}

/** Waits until none of them lives, or for `ms`. */
const allGone = async (rows: readonly ProcessRow[], ms: number): Promise<boolean> => {
  const until = performance.now() + ms
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 2, SLOWEST_LOOK_MS)) {
    if (!rows.some(lives)) return true
    if (performance.now() >= until) return false
    await sleep(pause)
  }
}

/**
 * Ends every process of a job: the CLI is asked in its own way first, so that it cleans up after itself; what still lives
 * when it has ended, or after `graceMs`, is killed. Resolves when all are gone, or when the system does not let some go.
 */
export const stopTree = async (
  job: Whose,
  how: { readonly stopSignal: NodeJS.Signals; readonly graceMs: number },
): Promise<Stopped> => {
  const seen = new Map<string, ProcessRow>()
  const look = async () => {
    const tree = await jobTree(job)
    for (const row of tree.members) seen.set(`${row.pid} ${row.startTime}`, row)
    return tree
  }
  const kill = (rows: readonly ProcessRow[]): number => {
    const living = rows.filter(lives)
    for (const row of living) signal(row, 'SIGKILL')
    return living.length
  }
  let killed = 0
  const patience = performance.now() + how.graceMs
  for (;;) {
    const { cli, wrapper } = await look()
    for (const row of cli) signal(row, how.stopSignal)
    if (!(await allGone(cli, patience - performance.now()))) {
      killed += kill([...seen.values()])
      await allGone(cli, KILLED_MS)
    }
    // The wrapper now writes down how the CLI ended: what it runs for that must not be taken for a part of the job.
    if (wrapper === undefined || (await allGone([wrapper], WRAPPER_MS))) break
    // Else it was only about to start the CLI.
    if (performance.now() < patience) continue
    signal(wrapper, 'SIGKILL')
    break
  }
  await allGone([...seen.values()], STRAGGLERS_MS)

  const until = performance.now() + KILLED_MS
  for (;;) {
    await look()
    const living = [...seen.values()].filter(lives)
    if (living.length === 0 || performance.now() >= until) break
    killed += kill(living)
    await allGone(living, until - performance.now())
  }
  const survivors = [...seen.values()].filter(lives)
  return { ended: seen.size - survivors.length, killed, survivors: survivors.map(({ pid }) => pid) }
}

/** There was nothing to stop. */
export const nothing: Stopped = { ended: 0, killed: 0, survivors: [] }

/** Ends what a job has left behind whose CLI has ended by itself. */
export const stopLeftovers = async (
  { jobId, pid, startTime, bootId, exitCode, endedAt }: Job,
  graceMs: number,
): Promise<Stopped> => {
  if (pid === null || startTime === null || bootId !== processOwner().bootId) return nothing
  // Without an exit code endedAt is when somebody noticed.
  const leftSince = exitCode === null || endedAt === null ? -Infinity : endedAt
  const job = { jobId, pid, startTime, leftSince }
  // The wrapper, which has just written how the CLI ended, is nothing that the job has left behind.
  const { wrapper } = await jobTree(job)
  if (wrapper !== undefined) await allGone([wrapper], WRAPPER_MS)
  return stopTree(job, { stopSignal: 'SIGTERM', graceMs })
}
