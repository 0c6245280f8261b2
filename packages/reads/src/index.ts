import { definePlugin } from '@codex-thread-bridge/core/contract'
import { createTurnWatcher } from '@codex-thread-bridge/core/threads'
import { listThreads } from './list-threads.ts'
import { readThread } from './read-thread.ts'
import { version } from './version.ts'
import { waitThread } from './wait-thread.ts'

/** list_threads, read_thread and wait_thread: they see threads and never touch them. */
export const createReadsPlugin = () => {
  const watcher = createTurnWatcher()
  return definePlugin({
    name: 'reads',
    family: 'bridge',
    version,
    tools: [listThreads, readThread, waitThread(watcher)],
    setup: (scope) => scope.onClose(() => watcher.close()),
  })
}
