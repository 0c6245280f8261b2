import { definePlugin, packageVersion } from '@codex-thread-bridge/core/contract'
import { createAllowedProfiles } from '@codex-thread-bridge/core/policy'
import { createThread } from './create-thread.ts'
import { sendMessageToThread } from './send-message-to-thread.ts'

/** create_thread and send_message_to_thread. */
export const createThreadsPlugin = () =>
  definePlugin({
    name: 'threads',
    family: 'bridge',
    version: packageVersion(import.meta.url),
    tools: [createThread(createAllowedProfiles()), sendMessageToThread],
  })
