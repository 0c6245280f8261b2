import type { Job } from '../store/job.ts'
import { jobsOfProcesses, processTable, startedAt, type ProcessRow } from './process-table.ts'

/** How exactly the begin of a process and the end of a job can be compared, in seconds. */
const CLOCK_SLACK = 1

/** Whose processes are looked for. */
export type Whose = Pick<Job, 'jobId' | 'pid' | 'startTime'> & {
  /** When its CLI ended, in seconds since the epoch; left out while it runs. */
  readonly leftSince?: number
}

/** What belongs to a job now. */
export interface JobTree {
  /** The wrapper, while it lives. */
  readonly wrapper: ProcessRow | undefined
  /** The CLI: what the wrapper runs; without a wrapper, what has no parent in the job. */
  readonly cli: readonly ProcessRow[]
  /** All but the wrapper. */
  readonly members: readonly ProcessRow[]
}

const isWrapper =
  (job: Pick<Job, 'pid' | 'startTime'>) =>
  ({ pid, startTime }: ProcessRow): boolean =>
    pid === job.pid && startTime === job.startTime

/**
 * Whether the group that has the job's pid as its number is the job's. While a group has a member its number is given to
 * no new process; once it had none, it may be another's. So a member has to show that the group never was empty.
 */
const isItsGroup = (
  job: Whose,
  wrapper: ProcessRow | undefined,
  table: readonly ProcessRow[],
  ours: ReadonlySet<number>,
): boolean => {
  if (wrapper !== undefined) return true
  if (table.some(({ pid }) => pid === job.pid)) return false
  const { leftSince } = job
  if (leftSince === undefined) return true
  return table.some(
    (row) => row.pgid === job.pid && (ours.has(row.pid) || startedAt(row) <= leftSince + CLOCK_SLACK),
  )
}

/**
 * The processes of a job: below its wrapper, in its group, or with its id in their environment. A tool that made a
 * session of its own and lost its parent is found by the last alone (Linux); one that also cleared its environment is not.
 */
export const jobTree = async (job: Whose): Promise<JobTree> => {
  const [table, marks] = await Promise.all([processTable(), jobsOfProcesses()])
  const wrapper = table.find(isWrapper(job))
  const ours = new Set([...marks].flatMap(([pid, jobId]) => (jobId === job.jobId ? [pid] : [])))
  // A job that an agent of this job has started is a job of its own.
  const isOthers = (pid: number): boolean => (marks.get(pid) ?? job.jobId) !== job.jobId
  if (wrapper !== undefined) ours.add(wrapper.pid)
  if (isItsGroup(job, wrapper, table, ours))
    for (const { pid, pgid } of table) if (pgid === job.pid) ours.add(pid)
  for (let before = -1; before !== ours.size;) {
    before = ours.size
    for (const { pid, ppid } of table) if (ours.has(ppid) && !isOthers(pid)) ours.add(pid)
  }
  // We may be a process of the job ourselves: an agent that ends its own job must hear the answer.
  const members = table.filter(({ pid }) => ours.has(pid) && pid !== wrapper?.pid && pid !== process.pid)
  const isCli = ({ ppid }: ProcessRow): boolean =>
    wrapper === undefined ? !ours.has(ppid) : ppid === wrapper.pid
  return { wrapper, cli: members.filter(isCli), members }
}
