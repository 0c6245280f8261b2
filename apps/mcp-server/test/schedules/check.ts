import type { CodexVersion } from '@codex-thread-bridge/test-fixtures'
import fc from 'fast-check'
import type { Answer } from './bridges.ts'
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

/** How often each kind of answer was met: schedules that meet only success prove little. */
export type Met = ReadonlyMap<string, number>

const kindOf = (answer: Answer): string => {
  if (answer.kind === 'gone') return 'no answer: killed'
  if (answer.kind === 'error') return `error ${answer.code}`
  const { status, error, delivery, reconciliation } = answer.receipt
  return [status, error?.code ?? delivery?.state, reconciliation?.verdict].filter(Boolean).join(', ')
}

/** A stage's logs grow with what is played on it. */
const PLAYS_A_STAGE = 60

/** Plays random schedules on stages of its own. The report's path and seed play a counterexample again. */
export const checkSchedules = async (options: ScheduleOptions) => {
  let stage: Stage | undefined
  let onStage = 0
  let played = 0
  const met = new Map<string, number>()
  const onAnswer = (answer: Answer): void => {
    const kind = kindOf(answer)
    met.set(kind, (met.get(kind) ?? 0) + 1)
  }
  const leave = async (): Promise<void> => {
    await stage?.close()
    stage = undefined
    onStage = 0
  }
  const property = fc.asyncProperty(schedules, async (schedule) => {
    stage ??= await openStage(options.version)
    try {
      await play(stage, schedule, onAnswer)
    } catch (error) {
      await leave()
      throw error
    }
    options.onPlayed?.((played += 1))
    if ((onStage += 1) >= PLAYS_A_STAGE) await leave()
  })
  try {
    const report = await fc.check(property, {
      seed: options.seed,
      numRuns: options.schedules,
      ...(options.path === undefined ? {} : { path: options.path, endOnFailure: true }),
    })
    return { report, met: new Map([...met].sort(([, a], [, b]) => b - a)) }
  } finally {
    await leave()
  }
}
