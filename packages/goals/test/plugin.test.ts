import { readFileSync } from 'node:fs'
import { testPlugin } from '@codex-thread-bridge/core/testing'
import { createGoalsPlugin } from '@codex-thread-bridge/goals'
import { expect, it } from 'vitest'

testPlugin(createGoalsPlugin(), it)

it('carries the version of its package', () => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  expect(manifest).toMatchObject({ version: createGoalsPlugin().version })
})
