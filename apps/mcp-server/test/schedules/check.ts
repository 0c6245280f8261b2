import type { CodexVersion } from '@codex-thread-bridge/test-fixtures'
import fc from 'fast-check'
import { play } from './play.ts'
import { openStage, type Stage } from './stage.ts'
import { schedules } from './steps.ts'

export interface ScheduleOptions {
  readonly version: CodexVersion
  readonly schedules: number
  readonly seed: number
  /** Of a counterexample: only that one is played. */
  readonly path?: string
  readonly onPlayed?: (count: number) => void
}

/** A stage's logs grow with what is played on it. */
const PLAYS_A_STAGE = 60

/** Plays random schedules on stages of its own. The report's path and seed play a counterexample again. */
export const checkSchedules = async (options: ScheduleOptions) => {
  let stage: Stage | undefined
  let onStage = 0
  let played = 0
  const leave = async (): Promise<void> => {
    await stage?.close()
    stage = undefined
    onStage = 0
  }
  const property = fc.asyncProperty(schedules, async (schedule) => {
    stage ??= await openStage(options.version)
    try {
      await play(stage, schedule)
    } catch (error) {
      await leave()
      throw error
    }
    options.onPlayed?.((played += 1))
    if ((onStage += 1) >= PLAYS_A_STAGE) await leave()
  })
  try {
    return await fc.check(property, {
      seed: options.seed,
      numRuns: options.schedules,
      ...(options.path === undefined ? {} : { path: options.path, endOnFailure: true }),
    })
  } finally {
    await leave()
  }
}
