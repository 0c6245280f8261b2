import { join } from 'node:path'
import type { Repository } from '@codex-thread-bridge/test-fixtures'
import { createWorktreesPlugin } from '@codex-thread-bridge/worktrees'
import { freshId, startBridge, type Bridge, type BridgeOptions } from '../../threads/test/bridge.ts'

/** A bridge with this package's tool. */
export const startLauncher = (options: BridgeOptions): Promise<Bridge> =>
  startBridge({ plugins: [createWorktreesPlugin({ gitTimeoutMs: 30_000 })], ...options })

/** The arguments of a read-only launch at a destination of its own; `more` replaces or adds. */
export const launchOf = (repository: Repository, more: object = {}) => {
  const request_id = freshId('launch')
  return {
    request_id,
    source_repository: repository.root,
    starting_revision: repository.head,
    destination: join(repository.directory, request_id),
    worktree_mode: 'bridge-managed-retained',
    sandbox: 'read-only',
    expected_sandbox_policy: { type: 'readOnly', networkAccess: false },
    prompt: 'Count the files.',
    ...more,
  }
}
