import { join } from 'node:path'
import type { Connection } from '@codex-thread-bridge/core/contract'
import { deliveryMarker, endpointIdentity } from '@codex-thread-bridge/core/ledger'
import type { Method } from '@codex-thread-bridge/core/protocol'
import { holdReply, type Repository, type World } from '@codex-thread-bridge/test-fixtures'
import { hostBridge, processBridge, type Answer, type Bridge } from './bridges.ts'
import { launchArgs } from './destination.ts'
import type { Fault } from './faults.ts'
import { createFullDisk, type FullDisk } from './full-disk.ts'
import { openLane, type Lane } from './lane.ts'
import type { StepRow } from './steps.ts'
import type { Truth } from './truth.ts'

/** A world and what its cells share. */
export interface Stage {
  readonly world: World
  readonly truth: Truth
  /** Threads of another client that come back with other settings. */
  readonly drifted: string[]
  /** The source of every launch. */
  readonly repository: Repository
}

/** One cell, ready to be played. */
export interface Scene {
  readonly stage: Stage
  readonly step: StepRow
  readonly fault: Fault
  readonly lane: Lane
  readonly disk: FullDisk
  readonly bridge: Bridge
  readonly kill: (() => Promise<void>) | undefined
  readonly requestId: string
  readonly marker: string
  readonly args: Readonly<Record<string, unknown>>
  /** Of a message; a creation has none yet. */
  readonly threadId: string | undefined
  /** Of a launch. */
  readonly destination: string | undefined
  /** Called before the step is handed to the transport. */
  readonly before: { hook?: (actions: Connection) => Promise<void> }
  /** Lets the turn that makes the thread busy end. */
  release(): void
}

/** Where no answer comes nobody waits for it; where a step is held, for as long as the others need. */
const SHORT_MS = 1_500
const LONG_MS = 300_000

const inProcess = (fault: Fault): boolean => !/^(cancelled|bridgeKilled|bothKilled)/.test(fault)

const receiptOf = (answer: Answer) => {
  if ('receipt' in answer) return answer.receipt
  throw new Error(`no receipt: ${answer.error.code}`)
}

let scenes = 0

export const setScene = async (stage: Stage, step: StepRow, fault: Fault): Promise<Scene> => {
  const { world, repository } = stage
  const lane = await openLane(world)
  const disk = createFullDisk()
  const before: Scene['before'] = {}
  const requestId = `${fault}-${(scenes += 1)}`
  const timeouts: Partial<Record<Method, number>> = {}
  let seen = 0
  let armed = false
  const options = {
    socketPath: lane.socketPath,
    stateDir: lane.stateDir,
    timeouts,
    ...(fault.startsWith('diskFull') ? { ledger: disk.wrap, clock: disk.clock } : {}),
    beforeCall: async (method: string, actions: Connection) => {
      if (!armed || method !== step.method) return
      seen += 1
      if (seen !== step.nth) return
      timeouts[step.method] = fault === 'answerLost' || fault === 'timeout' ? SHORT_MS : LONG_MS
      await before.hook?.(actions)
    },
  }
  const child = inProcess(fault) ? undefined : await processBridge(lane)
  const bridge = child ?? (await hostBridge(options))
  const held = holdReply()
  const busyText = `hold ${requestId}`
  const threadId = await threadFor()
  armed = true
  const text = `text of ${requestId}`
  const destination = step.way === 'launch' ? join(repository.directory, requestId) : undefined
  // A turn still runs when its App Server dies.
  if (/^(server|both)KilledActed/.test(fault)) world.model.when((last) => last === text, held)
  return {
    stage,
    step,
    fault,
    lane,
    disk,
    bridge,
    kill: child && (() => child.kill()),
    requestId,
    marker: deliveryMarker(endpointIdentity(lane.socketPath), requestId),
    args: {
      request_id: requestId,
      ...(threadId === undefined
        ? { title: 'Title', prompt: text }
        : {
            thread_id: threadId,
            message: text,
            ...(step.way === 'steer' || step.way === 'queue' ? { if_busy: step.way } : {}),
            ...(step.way === 'restore' ? { on_settings_drift: 'restore' } : {}),
          }),
      ...(step.way === 'create' ? { cwd: world.cwd } : {}),
      ...(destination === undefined ? {} : launchArgs(repository, destination)),
    },
    threadId,
    destination,
    before,
    release: () => held.release(),
  }

  async function threadFor(): Promise<string | undefined> {
    if (step.way === 'create' || step.way === 'launch') return undefined
    if (step.way === 'restore') return stage.drifted.pop()
    const busy = step.way !== 'send'
    if (busy) world.model.when((last) => last === busyText, held)
    const made = receiptOf(
      await bridge.call('create_thread', {
        request_id: `for ${requestId}`,
        cwd: world.cwd,
        ...(busy ? { prompt: busyText } : {}),
      }),
    )
    if (busy) await held.waitHeld()
    return made.threadId
  }
}

export const textOf = ({ args }: Scene): string => String(args.prompt ?? args.message)
