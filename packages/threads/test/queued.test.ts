import {
  holdReply,
  poll,
  startWorld,
  testedVersions,
  textAt,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshId, startBridge, type Bridge } from './bridge.ts'

describe.each(testedVersions)('the receipt of a queued message on App Server %s', (version) => {
  let world: World
  let bridge: Bridge

  beforeAll(async () => {
    world = await startWorld({ version })
    // Past the proxy: a restart of the server shows in the time of its own socket.
    bridge = await startBridge({ socketPath: world.appServer.socketPath })
  })
  afterAll(async () => {
    await bridge?.close()
    await world?.close()
  })

  const busyThread = async () => {
    const held = holdReply()
    const prompt = freshId('hold')
    world.model.when((text) => text === prompt, held)
    const created = await bridge.call('create_thread', { request_id: prompt, cwd: world.cwd, prompt })
    await held.waitHeld()
    return { threadId: created.threadId ?? '', held }
  }
  const queue = async (thread_id: string): Promise<string> => {
    const message = freshId('queued')
    const args = { request_id: message, thread_id, message, if_busy: 'queue' }
    const receipt = await bridge.call('send_message_to_thread', args)
    expect(receipt).toMatchObject({ status: 'accepted', delivery: { state: 'recorded', as: 'queue' } })
    expect(receipt.turnId).toBeUndefined()
    return message
  }

  it('learns its turn by reconciliation once it has one', async () => {
    const { threadId, held } = await busyThread()
    const message = await queue(threadId)
    expect((await bridge.reconcile(message)).turnId).toBeUndefined()
    held.release()
    const found = await poll(
      async () => {
        const receipt = await bridge.reconcile(message)
        return receipt.turnId !== undefined && receipt
      },
      { what: 'its turn' },
    )
    expect(found).toMatchObject({
      status: 'accepted',
      next: 'none',
      delivery: { state: 'recorded', as: 'queue' },
      reconciliation: { verdict: 'delivered' },
    })
    const client = await world.openClient()
    expect(await client.transcript(threadId)).toContain(message)
  })

  it('says so when the message was lost between queue and turn', async () => {
    const { threadId, held } = await busyThread()
    const message = await queue(threadId)
    const client = await world.openClient()
    const listed = await client.call('thread/queue/list', { threadId })
    // What a crash in the moment between the two leaves: not in the queue any more, not in the history yet.
    await client.call('thread/queue/delete', { threadId, queuedSubmissionId: textAt(listed, 'data.0.id') })
    expect(await bridge.reconcile(message)).toMatchObject({ status: 'accepted' })
    await world.appServer.kill()
    held.release()
    await world.appServer.restart()
    expect(await bridge.reconcile(message)).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'not_delivered' },
      reconciliation: { verdict: 'not_delivered' },
    })
  })
})
