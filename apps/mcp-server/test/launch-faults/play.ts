import { existsSync, readFileSync } from 'node:fs'
import { poll } from '@codex-thread-bridge/test-fixtures'
import { hostBridge, processBridge, type Answer, type Bridge } from '../fault-matrix/bridges.ts'
import { sourceOf } from '../fault-matrix/destination.ts'
import { createFullDisk } from '../fault-matrix/full-disk.ts'
import { acts } from './acts.ts'
import { launchThatDies } from './child.ts'
import type { GitFault } from './git-faults.ts'
import { observe, type Played } from './observe.ts'
import { writes, type PlaceName } from './places.ts'
import { afterWriting, openSite, type Site, type Stage } from './site.ts'

const TOOL = 'create_worktree_thread'
const GIT_MS = 30_000
/** Where Git hangs; all other commands of the launch have to do with it. */
const SHORT_GIT_MS = 2_000

/** Plays one cell in a repository of its own, and looks what became of it. */
export const play = async (stage: Stage, name: PlaceName, fault: GitFault): Promise<Played> => {
  const site = await openSite(stage, name, fault)
  try {
    if (fault.startsWith('bridgeKilled') || fault === 'bothKilled') return await playKill(site, name)
    return await playInProcess(site)
  } finally {
    await site.close()
  }
}

const playInProcess = async (site: Site): Promise<Played> => {
  const { place, fault, lane, git, args, repository, requestId } = site
  const disk = createFullDisk()
  const patience = new AbortController()
  const failures: unknown[] = []
  const before = await sourceOf(repository)
  const act = (): void => {
    if (fault === 'cancelled') setImmediate(() => patience.abort())
    try {
      acts[fault]?.(site)
    } catch (error) {
      failures.push(error)
    }
  }
  const diskFull = fault.startsWith('diskFull')
  if (diskFull) disk.fillAt(writes(place, fault === 'diskFullBefore' ? 'begin' : 'outcome'))
  const bridge = await hostBridge({
    socketPath: lane.socketPath,
    stateDir: lane.stateDir,
    git: {
      gitTimeoutMs: fault.startsWith('hangs') ? SHORT_GIT_MS : GIT_MS,
      env: { ...process.env, PATH: git.path },
    },
    ledger: diskFull ? disk.wrap : afterWriting(writes(place, 'begin'), act),
    ...(diskFull ? { clock: disk.clock } : {}),
  })
  try {
    const told = await answerOf(bridge, requestId, bridge.call(TOOL, args, patience.signal))
    disk.free()
    for (const undo of site.undo.splice(0)) undo()
    for (const failure of failures) throw failure
    await allEnded(site)
    return await observe(site, { bridge, told, before })
  } finally {
    await bridge.close()
  }
}

/** Who cancels hears nothing but that; the call goes on, unless it has not begun. */
const answerOf = async (bridge: Bridge, requestId: string, call: Promise<Answer>): Promise<Answer> => {
  const answer = await call
  if (!('error' in answer) || answer.error.code !== 'cancelled') return answer
  return poll(
    async () => {
      const now = await bridge.get(requestId)
      if ('error' in now) return answer
      return now.receipt.status !== 'in_progress_or_unknown' && now
    },
    { what: 'the cancelled call to end', timeoutMs: 30_000, every: 50 },
  )
}

/** Whether a process is there and has not ended. */
const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

const allEnded = ({ git }: Site) =>
  poll(() => !git.stuck().some(lives), { what: 'all that hung to be killed with its group' })

const playKill = async (site: Site, name: PlaceName): Promise<Played> => {
  const { fault, lane, args, repository, git, place } = site
  const before = await sourceOf(repository)
  const during = place.git !== undefined && (fault === 'bridgeKilledDuring' || fault === 'bothKilled')
  if (during) {
    const bridge = await processBridge({ ...laneOf(site), path: git.path })
    await bridge.call(TOOL, args).catch(() => undefined)
    await bridge.close()
    await poll(() => existsSync(`${git.path}/pids.ended`), { what: 'Git to go on to its end' })
  } else {
    const when = fault === 'bridgeKilledBefore' ? 'begin' : 'outcome'
    await launchThatDies({ ...laneOf(site), args, dies: { at: name, when } })
  }
  if (fault === 'bothKilled') await lane.proxy.close()
  const bridge = await hostBridge(laneOf(site))
  try {
    const told = await bridge.get(site.requestId)
    return await observe(site, { bridge, told, before })
  } finally {
    await bridge.close()
  }
}

const laneOf = ({ lane: { socketPath, stateDir } }: Site) => ({ socketPath, stateDir })
