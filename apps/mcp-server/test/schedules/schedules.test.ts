import { testedVersions } from '@codex-thread-bridge/test-fixtures'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkSchedules } from './check.ts'

const version = testedVersions.at(-1) ?? ''

it.concurrent.each([1, 2])(
  'whatever crashes, is lost and is repeated, receipts tell what is, and nothing is done twice (seed %i)',
  { timeout: 900_000 },
  async (seed) => {
    const { report, met } = await checkSchedules({ version, schedules: 100, seed })
    expect(fc.defaultReportMessage(report) ?? 'as promised').toBe('as promised')
    // Schedules in which nothing goes wrong would prove little.
    expect([...met.keys()].filter((kind) => kind.startsWith('outcome_unknown')).length).toBeGreaterThan(1)
  },
)
