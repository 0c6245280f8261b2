import { utimesSync } from 'node:fs'
import { endpointIdentity } from '@codex-thread-bridge/core/ledger'
import {
  at,
  holdReply,
  startWorld,
  tempDir,
  type CodexVersion,
  type HeldReply,
  type RawClient,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { hostBridge, processBridge, type Bridge } from './bridges.ts'
import { countSends } from './sends.ts'
import type { Seat } from './steps.ts'

/** The text that keeps a turn active. */
export const HOLD = 'hold-'
const IMPATIENT_MS = 600

/** What schedules play on, one after the other: a real App Server, bridges on one ledger, and another client. */
export interface Stage {
  readonly world: World
  readonly endpoint: string
  readonly sends: ReturnType<typeof countSends>
  /** Ids and markers of the threads that the App Server told of. */
  readonly started: ReadonlyMap<string, string>
  /** How often the App Server was killed. */
  readonly kills: number
  bridge(seat: Seat): Promise<Bridge>
  /** Gracefully, but for a process: that is killed. The next use starts another one. */
  endBridge(seat: Seat): Promise<void>
  /** The other client, connected anew after a loss. */
  client(): Promise<RawClient>
  killServer(): Promise<void>
  /** Starts it again if it is down. */
  serverUp(): Promise<void>
  /** Ends the turns that HOLD keeps active. */
  release(): void
  close(): Promise<void>
}

export const openStage = async (version: CodexVersion): Promise<Stage> => {
  const state = tempDir('state')
  const world = await startWorld({ version })
  const started = new Map<string, string>()
  const bridges = new Map<Seat, Promise<Bridge>>()
  let held: HeldReply = holdReply()
  let client: RawClient | undefined
  let kills = 0
  world.model.when(HOLD, () => held)

  const options = { socketPath: world.socketPath, stateDir: state.path }
  const start = (seat: Seat): Promise<Bridge> => {
    if (seat === 'process') return processBridge(options)
    return hostBridge(seat === 'patient' ? options : { ...options, timeouts: impatience })
  }
  const open = async (): Promise<RawClient> => {
    const opened = await world.openClient()
    await opened.call('thread/loaded/list', { limit: 1 })
    return opened
  }
  const noteStarted = (): void => {
    for (const { method, params } of client?.notifications ?? []) {
      const [id, source] = [at(params, 'thread.id'), at(params, 'thread.threadSource')]
      if (method === 'thread/started' && typeof id === 'string' && typeof source === 'string')
        started.set(id, source)
    }
  }

  const stage: Stage = {
    world,
    endpoint: endpointIdentity(world.socketPath),
    sends: countSends(world.proxy),
    get started() {
      noteStarted()
      return started
    },
    get kills() {
      return kills
    },
    bridge(seat) {
      const standing = bridges.get(seat) ?? start(seat)
      bridges.set(seat, standing)
      return standing
    },
    async endBridge(seat) {
      const standing = await bridges.get(seat)
      bridges.delete(seat)
      await standing?.kill()
    },
    client: async () => (client ??= await open()),
    async killServer() {
      noteStarted()
      client = undefined
      kills += 1
      await world.appServer.kill()
    },
    async serverUp() {
      if (world.appServer.running) return
      // The bridge knows a restart by the time of its socket, which is the proxy's here.
      const now = new Date()
      utimesSync(world.socketPath, now, now)
      await world.appServer.restart()
      client = await open()
    },
    release() {
      held.release()
      held = holdReply()
    },
    async close() {
      held.release()
      await Promise.allSettled([...bridges.values()].map(async (bridge) => (await bridge).close()))
      await world.close()
      await state.remove()
    },
  }
  await stage.client()
  return stage
}

const impatience = Object.fromEntries(
  [
    'thread/start',
    'thread/section/move',
    'thread/settings/update',
    'thread/name/set',
    'thread/resume',
    'turn/start',
    'turn/steer',
    'thread/queue/add',
  ].map((method) => [method, IMPATIENT_MS]),
)
