import { readFileSync } from 'node:fs'
import { testPlugin } from '@codex-thread-bridge/core/testing'
import { createReadsPlugin } from '@codex-thread-bridge/reads'
import { expect, it } from 'vitest'

testPlugin(createReadsPlugin(), it)

it('carries the version of its package', () => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  expect(manifest).toMatchObject({ version: createReadsPlugin().version })
})
