import { openRawClient, startWorld, testedVersions, textAt } from '@codex-thread-bridge/test-fixtures'
import { describe, expect, it } from 'vitest'
import { threadKey } from '../../src/protocol/thread-id.ts'

describe.each(testedVersions)('a thread id on App Server %s', (version) => {
  it('names its thread in every spelling that has the same key', async () => {
    const world = await startWorld({ version })
    try {
      const client = await openRawClient(world.appServer.socketPath)
      const id = await client.startThread({ cwd: world.cwd })
      const spellings = [id.toUpperCase(), id.replaceAll('-', ''), `{${id}}`, `urn:uuid:${id}`]
      for (const threadId of spellings) {
        expect(textAt(await client.call('thread/read', { threadId }), 'thread.id')).toBe(id)
        expect(threadKey(threadId)).toBe(threadKey(id))
      }
      await client.close()
    } finally {
      await world.close()
    }
  })
})
