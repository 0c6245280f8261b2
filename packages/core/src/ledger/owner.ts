import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Owner } from './receipt.ts'

/** Tells whether the process of an owner still runs. */
export type Liveness = (owner: Owner) => boolean

export interface ProcessFacts {
  /** One letter as `ps` prints it: Z is a process that ended and was not waited for. */
  readonly state: string
  /** Linux: clock ticks since boot. Elsewhere: the date that `ps` prints. */
  readonly startTime: string
}

/** State and start time of a process; undefined when the system does not show them. */
export const processFacts = (pid: number): ProcessFacts | undefined =>
  process.platform === 'linux' ? factsFromProc(pid) : factsFromPs(pid)

const factsFromProc = (pid: number): ProcessFacts | undefined => {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  // The second field, the command in parentheses, may itself hold spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  const state = fields?.[0]
  const startTime = fields?.[19]
  return state === undefined || startTime === undefined ? undefined : { state, startTime }
}

const factsFromPs = (pid: number): ProcessFacts | undefined => {
  const row = attempt(() => run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]))
  const match = row === undefined ? null : /^(\S)\S*\s+(.+)$/.exec(row)
  return match?.[1] === undefined || match[2] === undefined
    ? undefined
    : { state: match[1], startTime: match[2] }
}

const run = (command: string, args: readonly string[]): string =>
  execFileSync(command, args, {
    encoding: 'utf8',
    // A date is only comparable when every process prints it in the same language and time zone.
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

const attempt = <T>(act: () => T): T | undefined => {
  try {
    return act()
  } catch {
    return undefined
  }
}

const bootId = (): string => {
  if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  // kern.boottime moves when the clock is set; the session's uuid does not, but old systems lack it.
  return (
    attempt(() => run('sysctl', ['-n', 'kern.bootsessionuuid'])) || run('sysctl', ['-n', 'kern.boottime'])
  )
}

let own: Owner | undefined

/** This process, as receipts and thread claims name it. */
export const processOwner = (): Owner =>
  (own ??= {
    pid: process.pid,
    startTime: processFacts(process.pid)?.startTime ?? '',
    bootId: bootId(),
  })

/** False only when the process is provably gone: another boot, no such pid, a zombie, or a pid used again. */
export const isAlive: Liveness = (owner) => {
  const self = processOwner()
  if (owner.bootId !== self.bootId) return false
  if (owner.pid === self.pid) return owner.startTime === self.startTime
  if (!pidExists(owner.pid)) return false
  const facts = processFacts(owner.pid)
  if (facts === undefined) return pidExists(owner.pid)
  return facts.startTime === owner.startTime && facts.state !== 'Z' && facts.state !== 'X'
}

const pidExists = (pid: number): boolean => {
  // 0 and negative numbers would ask about process groups.
  if (pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it is there and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
