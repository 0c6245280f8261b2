import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { uptime } from 'node:os'
import { promisify } from 'node:util'
import { JOB_VARIABLE } from './wrapper.ts'

const MARK = `${JOB_VARIABLE}=`

/** One process that runs now (no zombie). */
export interface ProcessRow {
  readonly pid: number
  readonly ppid: number
  readonly pgid: number
  /** In the form of core's processFacts. */
  readonly startTime: string
}

/** What Linux counts the time in that it shows of processes. */
const TICKS_PER_SECOND = 100

/** When a process began, in seconds since the epoch, to about a second. */
export const startedAt = ({ startTime }: Pick<ProcessRow, 'startTime'>): number =>
  process.platform === 'linux'
    ? Date.now() / 1_000 - uptime() + Number(startTime) / TICKS_PER_SECOND
    : Date.parse(`${startTime} UTC`) / 1_000

/** Every process of the system that is shown to us. */
export const processTable = (): Promise<readonly ProcessRow[]> =>
  process.platform === 'linux' ? tableFromProc() : tableFromPs()

const pidsInProc = async (): Promise<readonly number[]> =>
  (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)

const tableFromProc = async (): Promise<readonly ProcessRow[]> => {
  const rows = await Promise.all((await pidsInProc()).map(rowFromProc))
  return rows.filter((row) => row !== undefined)
}

const rowFromProc = async (pid: number): Promise<ProcessRow | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined)
  // The second field, the command in parentheses, may itself hold spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, ppid, pgid] = fields ?? []
  const startTime = fields?.[19]
  if (startTime === undefined || state === 'Z' || state === 'X') return undefined
  return { pid, ppid: Number(ppid), pgid: Number(pgid), startTime }
}

const tableFromPs = async (): Promise<readonly ProcessRow[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart='], {
    // As core's processFacts prints it.
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
    maxBuffer: 16 * 1024 * 1024,
  })
  return stdout.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line)
    const [, pid, ppid, pgid, state = '', startTime] = match ?? []
    if (startTime === undefined || state.startsWith('Z')) return []
    return [{ pid: Number(pid), ppid: Number(ppid), pgid: Number(pgid), startTime }]
  })
}

/** Linux: which job a process belongs to, by the id in its environment, wherever it went; elsewhere nothing is found so. */
export const jobsOfProcesses = async (): Promise<ReadonlyMap<number, string>> => {
  if (process.platform !== 'linux') return new Map()
  const found = await Promise.all(
    (await pidsInProc()).map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
      const marked = environment.split('\0').find((entry) => entry.startsWith(MARK))
      return marked === undefined ? [] : [[pid, marked.slice(MARK.length)] as const]
    }),
  )
  return new Map(found.flat())
}
