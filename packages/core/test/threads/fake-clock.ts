import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../src/contract/tool.ts'

interface Sleeper {
  readonly at: number
  wake(): void
}

/** A clock that stands still until advance(): sleepers wake in order, and what they do comes before the next one. */
export const fakeClock = (start = 1_796_058_800_000) => {
  let now = start
  const sleepers = new Set<Sleeper>()

  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(new Error('aborted'))
        const leave = (settle: () => void): void => {
          sleepers.delete(sleeper)
          signal?.removeEventListener('abort', abort)
          settle()
        }
        const abort = (): void => leave(() => reject(new Error('aborted')))
        const sleeper: Sleeper = { at: now + ms, wake: () => leave(resolve) }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', abort)
      }),
  }

  const next = (until: number): Sleeper | undefined =>
    [...sleepers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]

  return {
    ...clock,
    get sleeping() {
      return sleepers.size
    },
    async advance(ms: number): Promise<void> {
      const until = now + ms
      await settled()
      for (let sleeper = next(until); sleeper !== undefined; sleeper = next(until)) {
        now = Math.max(now, sleeper.at)
        sleeper.wake()
        await settled()
      }
      now = until
      await settled()
    },
  }
}

/** Everything that follows without time passing has happened. */
export const settled = async (): Promise<void> => {
  for (let round = 0; round < 5; round += 1) await setImmediate()
}
