import { poll } from '@codex-thread-bridge/test-fixtures'
import { hostBridge, type Answer, type Bridge } from './bridges.ts'
import type { Cell, Told } from './cell.ts'
import type { Fault } from './faults.ts'
import { setScene, textOf, type Scene, type Stage } from './scene.ts'
import { stepNames, steps, type StepName } from './steps.ts'
import { holdAtStep, strikes } from './strike.ts'

/** A cell as it was played; `broken` names every promise of a receipt that did not hold. */
export interface Played {
  readonly cell: Cell
  readonly broken: readonly string[]
}
export type Column = ReadonlyMap<StepName, Played | Error>

const AT_ONCE = 5

const toldOf = (answer: Answer): Told => {
  if ('error' in answer) {
    const { code, next } = answer.error
    return { status: 'error', next: next as Told['next'], code, ids: [] }
  }
  const { status, next, error, threadId, turnId } = answer.receipt
  return {
    status,
    next,
    code: error?.code ?? null,
    ids: [
      ...(threadId === undefined ? [] : (['threadId'] as const)),
      ...(turnId === undefined ? [] : (['turnId'] as const)),
    ],
  }
}

/** Looks, after the fault, with the eyes of a caller and with those of another client; then asks again. */
const observe = async (scene: Scene, answer: Answer | undefined): Promise<Played> => {
  const { stage, lane, requestId, fault, step } = scene
  const { truth } = stage
  const broken: string[] = []
  const expect = (holds: boolean, promise: string): void => {
    if (!holds) broken.push(promise)
  }
  scene.release()
  const targets = async () =>
    scene.threadId === undefined ? truth.threadsWith(scene.marker) : [scene.threadId]
  for (const threadId of await targets()) await truth.quiet(threadId)

  const bridge = await again(scene)
  try {
    const told = answer ?? (await bridge.get(requestId))
    const noReceipt = 'error' in told
    if (fault.startsWith('diskFull')) await written(bridge, requestId, noReceipt)
    const looked = noReceipt ? told : await bridge.reconcile(requestId)
    const sent = lane.mutations()
    const replay = await bridge.call(step.tool, scene.args)
    const resent = lane.mutations() - sent
    const last = noReceipt ? replay : looked
    if (!noReceipt) {
      expect(resent === 0, `a replay sent ${resent} requests`)
      expect('receipt' in replay && replay.receipt.replayed === true, 'a replay was not marked as one')
      expect(toldOf(replay).status === toldOf(looked).status, 'a replay tells something else')
    }

    const threads = await targets()
    const found = (
      await Promise.all(
        threads.map(async (threadId) =>
          (await truth.messages(threadId, textOf(scene))).map((message) => ({ threadId, ...message })),
        ),
      )
    ).flat()
    expect(threads.length <= 1, `${threads.length} threads`)
    expect(found.length <= 1, `${found.length} messages`)
    for (const each of [told, last]) {
      if (!('receipt' in each)) continue
      const { status, threadId, turnId, itemId } = each.receipt
      if (status === 'accepted') expect(found.length === 1, 'accepted, and no message is there')
      if (threadId !== undefined && threads.length > 0)
        expect(threadId === threads[0], `thread ${threadId} is not ${threads[0]}`)
      if (turnId !== undefined && found.length > 0)
        expect(turnId === found[0]?.turnId, `turn ${turnId} is not ${found[0]?.turnId}`)
      if (itemId !== undefined) expect(itemId === found[0]?.itemId, 'another item')
    }
    // An accepted message may have been looked up once more, when it was recorded late.
    const settled = toldOf(told).status === 'accepted' || noReceipt
    const evidence = 'receipt' in looked ? looked.receipt.reconciliation : undefined
    const verdict = settled ? null : (evidence?.verdict ?? null)
    return {
      broken,
      cell: {
        told: toldOf(told),
        verdict,
        after: toldOf(last),
        threads: scene.threadId === undefined ? threads.length : 0,
        messages: found.length,
      },
    }
  } finally {
    await bridge.close()
  }
}

/** The bridge of the cell, or another one where that was killed. */
const again = async (scene: Scene): Promise<Bridge> => {
  const { fault, bridge, lane } = scene
  if (!/^(bridge|both)Killed/.test(fault)) return bridge
  await bridge.close()
  return hostBridge(lane)
}

/** What could not be written is written soon after there is room again: how it ended, or that there is no row. */
const written = (bridge: Bridge, requestId: string, noReceipt: boolean) =>
  poll(
    async () => {
      const now = await bridge.get(requestId)
      return 'receipt' in now ? !noReceipt && now.receipt.status !== 'in_progress_or_unknown' : noReceipt
    },
    { what: `the row of ${requestId} to be written`, every: 50 },
  )

const attempt = async <T>(act: () => Promise<T>): Promise<T | Error> => {
  try {
    return await act()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Runs some at a time. */
const each = async <T, R>(things: readonly T[], act: (thing: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = []
  const waiting = [...things.entries()]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      results[next[0]] = await act(next[1])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return results
}

/** One fault at every step; the cells of a column share a world, and a crash of its App Server. */
export const playColumn = async (
  stage: Stage,
  fault: Fault,
  names: readonly StepName[] = stepNames,
): Promise<Column> => {
  const strike = strikes[fault]
  if (strike !== undefined) {
    const played = await each(names, (name) =>
      attempt(async () => {
        const scene = await setScene(stage, steps[name], fault)
        try {
          return await observe(scene, await strike(scene))
        } finally {
          await scene.lane.close()
        }
      }),
    )
    return new Map(names.map((name, index) => [name, played[index] ?? new Error('not played')]))
  }
  return playKills(stage, fault, names)
}

const playKills = async (stage: Stage, fault: Fault, names: readonly StepName[]): Promise<Column> => {
  const { appServer } = stage.world
  const serverDies = /^(server|both)/.test(fault)
  const standing = await each(names, (name) =>
    attempt(async () => {
      const scene = await setScene(stage, steps[name], fault)
      const held = await holdAtStep(scene)
      if (fault.endsWith('Acted')) await durable(scene)
      await scene.kill?.()
      return { scene, held } as const
    }),
  )
  const scenes = standing.filter((each): each is Exclude<typeof each, Error> => !(each instanceof Error))
  if (serverDies) await appServer.kill()
  const answers = await Promise.all(scenes.map(({ held }) => held.answer))
  for (const { held } of scenes) held.forget()
  if (serverDies) {
    await appServer.restart()
    await Promise.all(scenes.map(({ scene }) => scene.lane.relisten()))
    await stage.truth.reopen()
  }
  const played = new Map<Scene, Played | Error>()
  await each(scenes, async (one) => {
    const { scene } = one
    const answer = answers[scenes.indexOf(one)]
    played.set(scene, await attempt(() => observe(scene, answer)))
    await scene.lane.close()
  })
  return new Map(
    names.map((name, index) => {
      const stood = standing[index]
      if (stood === undefined || stood instanceof Error) return [name, stood ?? new Error('not played')]
      return [name, played.get(stood.scene) ?? new Error('not played')]
    }),
  )
}

/** A message that was answered for is durable once it is in the history: until then a crash may lose it. */
const durable = async ({ stage, lane, step, threadId, marker, ...scene }: Scene): Promise<void> => {
  // A bridge that lives on knows of a lost thread by the broadcast, which follows the answer.
  if (step.method === 'thread/start') await lane.proxy.waitFor({ method: 'thread/started' })
  if (step.method !== 'turn/start') return
  const target = threadId ?? (await stage.truth.threadsWith(marker))[0] ?? ''
  const text = String(scene.args.prompt ?? scene.args.message)
  await poll(() => stage.truth.isRecorded(target, text), { what: 'the message to be recorded' })
}
