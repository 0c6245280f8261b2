import { poll } from '@codex-thread-bridge/test-fixtures'
import { hostBridge, type Answer, type Bridge } from './bridges.ts'
import type { Cell, Told } from './cell.ts'
import { standingAt, type Destination } from './destination.ts'
import { launchPromises } from './launch-promises.ts'
import { textOf, type Scene } from './scene.ts'
import type { Found } from './truth.ts'

/** A cell as it was played; `broken` names every promise of a receipt that did not hold. */
export interface Played {
  readonly cell: Cell
  readonly broken: readonly string[]
}

/** What a caller sees, in this order. */
interface Seen {
  readonly told: Answer
  readonly looked: Answer
  readonly replay: Answer
  /** Requests of the replay that may change something. */
  readonly resent: number
}

/** What another client sees. */
interface There {
  readonly threads: readonly string[]
  readonly messages: readonly Found[]
  /** Of a launch. */
  readonly destination: Destination | undefined
}

/** Looks, after the fault, with the eyes of a caller and with those of another client. */
export const observe = async (scene: Scene, answer: Answer | undefined): Promise<Played> => {
  scene.release()
  for (const threadId of await targetsOf(scene)) await scene.stage.truth.quiet(threadId)
  const bridge = await bridgeAfter(scene)
  try {
    const seen = await askAgain(scene, bridge, answer ?? (await bridge.get(scene.requestId)))
    const there = await whatIsThere(scene)
    return { cell: cellOf(scene, seen, there), broken: brokenPromises(scene, seen, there) }
  } finally {
    await bridge.close()
  }
}

/** The thread of a message; those that the creation made. */
const targetsOf = async ({ stage, threadId, marker }: Scene): Promise<readonly string[]> =>
  threadId === undefined ? stage.truth.threadsWith(marker) : [threadId]

/** The bridge of the cell, or another one where that was killed. */
const bridgeAfter = async ({ fault, bridge, lane }: Scene): Promise<Bridge> => {
  if (!/^(bridge|both)Killed/.test(fault)) return bridge
  await bridge.close()
  return hostBridge(lane)
}

const askAgain = async (scene: Scene, bridge: Bridge, told: Answer): Promise<Seen> => {
  const { fault, lane, requestId, step, args } = scene
  if (fault.startsWith('diskFull')) await written(bridge, requestId, 'error' in told)
  const looked = 'error' in told ? told : await bridge.reconcile(requestId)
  const sent = lane.mutations()
  const replay = await bridge.call(step.tool, args)
  return { told, looked, replay, resent: lane.mutations() - sent }
}

/** What could not be written is written soon after there is room again: how it ended, or that there is no row. */
export const written = (bridge: Bridge, requestId: string, noReceipt: boolean) =>
  poll(
    async () => {
      const now = await bridge.get(requestId)
      return 'receipt' in now ? !noReceipt && now.receipt.status !== 'in_progress_or_unknown' : noReceipt
    },
    { what: `the row of ${requestId} to be written`, every: 50 },
  )

const whatIsThere = async (scene: Scene): Promise<There> => {
  const threads = await targetsOf(scene)
  const messages = threads.map((threadId) => scene.stage.truth.messages(threadId, textOf(scene)))
  const { destination: path, stage } = scene
  return {
    threads,
    messages: (await Promise.all(messages)).flat(),
    destination: path === undefined ? undefined : await standingAt(stage.repository, path, scene.requestId),
  }
}

const cellOf = (scene: Scene, { told, looked, replay }: Seen, there: There): Cell => {
  const { threads, messages, destination } = there
  const after = 'error' in told ? replay : looked
  const evidence = 'receipt' in looked ? looked.receipt.reconciliation : undefined
  return {
    told: toldOf(told),
    // An accepted message may have been looked up once more, when it was recorded late.
    verdict: toldOf(told).status === 'accepted' ? null : (evidence?.verdict ?? null),
    after: toldOf(after),
    threads: scene.threadId === undefined ? threads.length : 0,
    messages: messages.length,
    ...(destination === undefined || 'error' in after
      ? {}
      : { launch: { destination, phase: String(after.receipt.phase) } }),
  }
}

export const toldOf = (answer: Answer): Told => {
  if ('error' in answer) return { status: 'error', ...answer.error, ids: [] }
  const { status, next, error, threadId, turnId } = answer.receipt
  const ids = { threadId, turnId }
  const known = (['threadId', 'turnId'] as const).filter((name) => ids[name] !== undefined)
  return { status, next, code: error?.code ?? null, ids: known }
}

/** What must hold in every cell, whatever it is. */
const brokenPromises = (scene: Scene, seen: Seen, there: There): readonly string[] => {
  const { told, looked, replay, resent } = seen
  const last = 'error' in told ? replay : looked
  const [thread] = there.threads
  const [message] = there.messages
  const same = (known: unknown, real: string | undefined): boolean =>
    known === undefined || real === undefined || known === real
  const ofReceipts = [told, last].flatMap((each): [boolean, string][] => {
    if ('error' in each) return []
    const { status, threadId, turnId, itemId } = each.receipt
    return [
      [status !== 'accepted' || there.messages.length === 1, 'accepted, and there is no message'],
      [same(threadId, thread), `the thread is ${String(thread)}, not ${String(threadId)}`],
      [same(turnId, message?.turnId), `the turn is ${String(message?.turnId)}, not ${String(turnId)}`],
      [same(itemId, message?.itemId), `the item is ${String(message?.itemId)}, not ${String(itemId)}`],
    ]
  })
  const ofLaunch =
    there.destination === undefined || 'error' in last ? [] : launchPromises(last.receipt, there.destination)
  const isReplay =
    'receipt' in replay && replay.receipt.replayed === true && toldOf(replay).status === toldOf(looked).status
  const promises: [boolean, string][] = [
    [there.threads.length <= 1, `there are ${there.threads.length} threads`],
    [there.messages.length <= 1, `there are ${there.messages.length} messages`],
    ['error' in told || resent === 0, `the replay sent ${resent} requests`],
    ['error' in told || isReplay, 'the replay is none'],
    ...ofReceipts,
    ...ofLaunch,
  ]
  return promises.flatMap(([holds, otherwise]) => (holds ? [] : [`${scene.requestId}: ${otherwise}`]))
}
