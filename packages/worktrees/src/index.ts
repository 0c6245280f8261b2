import { definePlugin, given, packageVersion } from '@codex-thread-bridge/core/contract'
import { createGit } from '@codex-thread-bridge/core/git'
import { createAllowedProfiles } from '@codex-thread-bridge/core/policy'
import { createWorktreeThread } from './create-worktree-thread.ts'

export interface WorktreesOptions {
  /** How long one Git command may take, in milliseconds. */
  readonly gitTimeoutMs: number
  /** Where Git is found and what it inherits; this process's environment unless given. */
  readonly env?: NodeJS.ProcessEnv
}

/** create_worktree_thread. */
export const createWorktreesPlugin = ({ gitTimeoutMs, env }: WorktreesOptions) =>
  definePlugin({
    name: 'worktrees',
    family: 'bridge',
    version: packageVersion(import.meta.url),
    tools: [
      createWorktreeThread(
        createGit({ timeoutMs: gitTimeoutMs, ...given({ env }) }),
        createAllowedProfiles(),
      ),
    ],
  })
