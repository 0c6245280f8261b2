import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fuzz } from './fuzz.ts'

it(
  'arguments that are wrong are refused by the name of their place, before anything is called; others are not',
  { timeout: 300_000 },
  async () => {
    const { report, counts } = await fuzz({ runs: 20_000, seed: 1 })
    expect(fc.defaultReportMessage(report) ?? 'as promised').toBe('as promised')
    // The sample is worth something only while all kinds are in it.
    expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(5_000)
    expect(counts.faulty).toBeGreaterThan(100)
  },
)
