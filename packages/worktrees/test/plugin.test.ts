import type { Example } from '@codex-thread-bridge/core/contract'
import { testPlugin } from '@codex-thread-bridge/core/testing'
import { createRepository } from '@codex-thread-bridge/test-fixtures'
import { createWorktreesPlugin } from '@codex-thread-bridge/worktrees'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { afterAll, describe, it } from 'vitest'

const repository = await createRepository()
const plugin = createWorktreesPlugin({ gitTimeoutMs: 30_000 })

/** The documentation's example, with the places of this machine. */
const here = (example: Example): Example =>
  Value.Parse(
    Type.Unsafe<Example>(Type.Object({})),
    JSON.parse(
      JSON.stringify(example)
        .replaceAll('/srv/worktrees', repository.directory)
        .replaceAll('/srv/parser', repository.root)
        .replaceAll(/"[0-9a-f]{40}"/g, `"${repository.head}"`),
    ),
  )

describe('the worktrees plugin', () => {
  afterAll(() => repository.remove())
  testPlugin(plugin, it, {
    examples: { create_worktree_thread: plugin.tools.flatMap(({ examples }) => examples.map(here)) },
  })
})
