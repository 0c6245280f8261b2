import { poll } from '@codex-thread-bridge/test-fixtures'
import type { Fault } from './faults.ts'
import { observe, type Played } from './observe.ts'
import { setScene, textOf, type Scene, type Stage } from './scene.ts'
import { stepNames, steps, type StepName } from './steps.ts'
import { holdAtStep, strikes, type Held, type Strike } from './strike.ts'

/** One fault at every step: what was observed, or why a cell could not be played. */
export type Column = ReadonlyMap<StepName, Played | Error>

const AT_ONCE = 5

const attempt = async <T>(act: () => Promise<T>): Promise<T | Error> => {
  try {
    return await act()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Runs some at a time. */
const each = async <T>(things: readonly T[], act: (thing: T) => Promise<void>): Promise<void> => {
  const waiting = [...things]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await act(next)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** Plays one fault at every step; the cells share a world and, where it is killed, a crash of its App Server. */
export const playColumn = async (stage: Stage, fault: Fault): Promise<Column> => {
  const strike = strikes[fault]
  return strike === undefined ? playKills(stage, fault) : playAlone(stage, fault, strike)
}

const playAlone = async (stage: Stage, fault: Fault, strike: Strike): Promise<Column> => {
  const column = new Map<StepName, Played | Error>()
  await each(stepNames, async (name) => {
    const played = await attempt(async () => {
      const scene = await setScene(stage, steps[name], fault)
      try {
        return await observe(scene, await strike(scene))
      } finally {
        await scene.lane.close()
      }
    })
    column.set(name, played)
  })
  return column
}

/** A call that stands at its step; where the bridge dies, it is dead. */
const standAtStep = async (stage: Stage, name: StepName, fault: Fault) => {
  const scene = await setScene(stage, steps[name], fault)
  const held = await holdAtStep(scene)
  if (fault.endsWith('Acted')) await durable(scene)
  await scene.kill?.()
  return { scene, held }
}

const playKills = async (stage: Stage, fault: Fault): Promise<Column> => {
  const column = new Map<StepName, Played | Error>()
  const standing = new Map<StepName, { readonly scene: Scene; readonly held: Held }>()
  await each(stepNames, async (name) => {
    const stood = await attempt(() => standAtStep(stage, name, fault))
    if (stood instanceof Error) column.set(name, stood)
    else standing.set(name, stood)
  })
  const all = [...standing.values()]
  const dies = /^(server|both)/.test(fault)
  if (dies) await stage.world.appServer.kill()
  await Promise.all(all.map(({ held }) => held.answer))
  for (const { held } of all) held.forget()
  if (dies) await startAgain(stage, all)
  await each([...standing], async ([name, { scene, held }]) => {
    column.set(name, await attempt(async () => observe(scene, await held.answer)))
    await scene.lane.close()
  })
  return column
}

const startAgain = async ({ world, truth }: Stage, all: readonly { readonly scene: Scene }[]) => {
  await world.appServer.restart()
  await Promise.all(all.map(({ scene }) => scene.lane.relisten()))
  await truth.reopen()
}

/** What was answered for may still be lost in a crash for a moment: until its message is in the history. */
const durable = async (scene: Scene): Promise<void> => {
  const { stage, lane, step, threadId, marker } = scene
  // A bridge that lives on knows of a lost thread by the broadcast, which follows the answer.
  if (step.method === 'thread/start') await lane.proxy.waitFor({ method: 'thread/started' })
  if (step.method !== 'turn/start') return
  const target = threadId ?? (await stage.truth.threadsWith(marker))[0] ?? ''
  await poll(() => stage.truth.isRecorded(target, textOf(scene)), { what: 'the message to be recorded' })
}
