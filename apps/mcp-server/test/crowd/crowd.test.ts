import { testedVersions } from '@codex-thread-bridge/test-fixtures'
import { expect, it } from 'vitest'
import { crowd } from './crowd.ts'

const version = testedVersions.at(-1) ?? ''

it(
  'eight bridges on one ledger dispatch 1,000 calls of shared ids once each, in order, without an error',
  { timeout: 300_000 },
  async () => {
    const report = await crowd({ version, bridges: 8, requests: 1_000, seed: 1 })
    expect(report).toMatchObject({ errors: [], lost: [], miscounted: [], misordered: [] })
    expect(report.calls).toBeGreaterThanOrEqual(1_000)
    expect(report.ids).toBeLessThan(report.calls / 2)
  },
)
