import type { Job } from '../store/job.ts'
import { jobsOfProcesses, processTable, type ProcessRow } from './process-table.ts'

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
 * The processes of a job: below its wrapper, in its group, or with its id in their environment. A tool that made a
 * session of its own and lost its parent is found by the last alone (Linux).
 */
export const jobTree = async (job: Pick<Job, 'jobId' | 'pid' | 'startTime'>): Promise<JobTree> => {
  const [table, marks] = await Promise.all([processTable(), jobsOfProcesses()])
  const wrapper = table.find(isWrapper(job))
  const pidReused = wrapper === undefined && table.some(({ pid }) => pid === job.pid)
  const ours = new Set([...marks].flatMap(([pid, jobId]) => (jobId === job.jobId ? [pid] : [])))
  // A job that an agent of this job has started is a job of its own.
  const isOthers = (pid: number): boolean => (marks.get(pid) ?? job.jobId) !== job.jobId
  if (wrapper !== undefined) ours.add(wrapper.pid)
  // While the group has a member its number is given to no new process.
  if (!pidReused) for (const { pid, pgid } of table) if (pgid === job.pid) ours.add(pid)
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
