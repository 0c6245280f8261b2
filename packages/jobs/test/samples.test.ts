import { cliSamples } from '@codex-thread-bridge/test-fixtures'
import { describe, expect, it } from 'vitest'
import { expected } from './samples-expected.ts'
import { summaryOfSample } from './support/read-sample.ts'

const told = (summary: object): object =>
  Object.fromEntries(
    Object.entries(summary).filter(
      ([, value]) => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0),
    ),
  )

describe.each(['codex', 'claude', 'opencode'] as const)('a recorded run of the real %s', (agent) => {
  it.each(cliSamples(agent).map((sample) => [sample.name, sample] as const))(
    '%s reads as what it was',
    async (name, sample) => {
      expect(told(await summaryOfSample(agent, sample))).toEqual(expected[`${agent}/${name}`])
    },
  )
})

it('every expectation belongs to a sample', () => {
  const names = (['codex', 'claude', 'opencode'] as const).flatMap((agent) =>
    cliSamples(agent).map(({ name }) => `${agent}/${name}`),
  )
  expect(Object.keys(expected).sort()).toEqual(names.sort())
})
