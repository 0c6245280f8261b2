import { join } from 'node:path'
import { definePlugin, packageVersion } from '@codex-thread-bridge/core/contract'
import type { Git } from '@codex-thread-bridge/core/git'
import type { OperationsPort } from '@codex-thread-bridge/core/host'
import { createAllowedProfiles } from '@codex-thread-bridge/core/policy'
import { createTurnWatcher } from '@codex-thread-bridge/core/threads'
import { createThread } from './create-thread.ts'
import { forkThread } from './fork-thread.ts'
import { getHandoffStatus } from './get-handoff-status.ts'
import { handoffThread } from './handoff-thread.ts'
import { listProjects } from './list-projects.ts'
import { listThreads } from './list-threads.ts'
import { readThread } from './read-thread.ts'
import { sendMessageToThread } from './send-message-to-thread.ts'
import { setThreadArchived } from './set-thread-archived.ts'
import { setThreadPinned } from './set-thread-pinned.ts'
import { setThreadTitle } from './set-thread-title.ts'
import { waitThreads } from './wait-threads.ts'

export { isExpendable, listWorktrees, removeWorktree, type ManagedWorktree } from './git/managed.ts'

/** Where the worktrees of this family are, in a state directory. */
export const worktreesDirOf = (stateDir: string): string => join(stateDir, 'worktrees')

export interface AppThreadsOptions {
  /** The host's own: creations are found by their receipts. */
  readonly operations: OperationsPort
  /** Real paths of directories that are projects, beside those of the App Server. */
  readonly projects: readonly string[]
  /** Where directories of threads without a project are made. */
  readonly documentsRoot: string
  /** Where worktrees are made. */
  readonly worktreesDir: string
  readonly git: Git
  /** The permission profile of new threads; narrower where ceiling or caller are. */
  readonly defaultPermissions: string
  /** Whether a message begins with a line that names its sender. */
  readonly provenance: boolean
}

/** The thread tools that Codex Desktop gives its agents (contract: app-threads). */
export const createAppThreadsPlugin = (options: AppThreadsOptions) => {
  const { operations, projects, provenance } = options
  const watcher = createTurnWatcher()
  const creating = { ...options, allowedProfiles: createAllowedProfiles() }
  return definePlugin({
    name: 'app-threads',
    family: 'codex-app',
    version: packageVersion(import.meta.url),
    tools: [
      createThread(creating),
      forkThread(creating),
      getHandoffStatus(operations),
      handoffThread(creating),
      listProjects(projects),
      listThreads(projects),
      readThread(operations),
      sendMessageToThread(operations, provenance),
      setThreadArchived(operations),
      setThreadPinned(operations),
      setThreadTitle(operations),
      waitThreads(operations, watcher),
    ],
    setup: (scope) => scope.onClose(() => watcher.close()),
  })
}
