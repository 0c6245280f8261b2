import { join } from 'node:path'
import { createAppThreadsPlugin } from '@codex-thread-bridge/app-threads'
import { createGit } from '@codex-thread-bridge/core/git'
import { testPlugin } from '@codex-thread-bridge/core/testing'
import { createRepository, tempDir } from '@codex-thread-bridge/test-fixtures'
import { afterAll, describe, it } from 'vitest'
import { handoffExample } from '../src/handoff-thread.examples.ts'

const repository = await createRepository()
const worktrees = tempDir('wt')
const worktree = join(worktrees.path, 'worktree')
await repository.git(['worktree', 'add', '--detach', worktree])

afterAll(async () => {
  await worktrees.remove()
  await repository.remove()
})

describe('the app-threads plugin', () => {
  testPlugin(
    (host) =>
      createAppThreadsPlugin({
        operations: host.operations,
        projects: [],
        documentsRoot: '/nowhere',
        worktreesDir: worktrees.path,
        git: createGit({ timeoutMs: 10_000 }),
        defaultPermissions: ':read-only',
        provenance: false,
      }),
    it,
    {
      // Paths that exist here: the documentation's do not.
      examples: { handoff_thread: [handoffExample(worktree, repository.root)] },
      receipts: [
        {
          requestId: 'call-1',
          operation: 'handoff_thread',
          status: 'accepted',
          startedAt: 1,
          updatedAt: 2,
          retrySafe: false,
          next: 'none',
          steps: [{ name: 'thread/fork', state: 'answered', at: 1 }],
          threadId: '01a22d6c-ee00-7d30-84f1-a4cd16c32862',
          handoff: {
            direction: 'local-to-worktree',
            stage: 'done',
            from: '/work/parser',
            to: '/state/worktrees/parser/1',
            revision: '0'.repeat(40),
            directory: '',
          },
        },
      ],
    },
  )
})
