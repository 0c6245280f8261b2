import { definePlugin, packageVersion } from '@codex-thread-bridge/core/contract'
import { createTurnWatcher } from '@codex-thread-bridge/core/threads'
import { listThreads } from './list-threads.ts'
import { readThread } from './read-thread.ts'

import { waitThread } from './wait-thread.ts'

/** list_threads, read_thread and wait_thread: they see threads and never touch them. */
export const createReadsPlugin = () => {
  const watcher = createTurnWatcher()
  return definePlugin({
    name: 'reads',
    family: 'bridge',
    version: packageVersion(import.meta.url),
    tools: [listThreads, readThread, waitThread(watcher)],
    setup: (scope) => scope.onClose(() => watcher.close()),
  })
}
