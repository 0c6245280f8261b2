import { join } from 'node:path'
import { startFaultProxy, startWorld, tempDir, testedVersions } from '@codex-thread-bridge/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freshId, startBridge } from './bridge.ts'

const TURN = '01a22e89-d24b-74f3-8937-d9b065376f76'
const answered = { respond: { result: { turn: { id: TURN, items: [], status: 'inProgress' } } } }

/** A bridge whose next message is acknowledged and lost, as by an App Server that dies right after its answer. */
const setUp = async (version: string) => {
  const world = await startWorld({ version })
  const folder = tempDir('lost')
  const way = { listen: join(folder.path, 'way.sock'), target: world.appServer.socketPath }
  const proxies = [await startFaultProxy(way)]
  const bridge = await startBridge({ socketPath: way.listen })
  onTestFinished(async () => {
    await bridge.close()
    for (const proxy of proxies) await proxy.close()
    await world.close()
    await folder.remove()
  })
  const crash = async (): Promise<void> => {
    await world.appServer.kill()
    await world.appServer.restart()
    await proxies[0]?.close()
    proxies.push(await startFaultProxy(way))
  }
  const lose = () =>
    proxies[0]?.on({ direction: 'to-server', kind: 'request', method: 'turn/start' }, answered)
  return { bridge, cwd: world.cwd, crash, lose }
}

describe.each(testedVersions)('an acknowledged message that died with App Server %s', (version) => {
  it('is no delivery any more, once that is known', async () => {
    const { bridge, cwd, crash, lose } = await setUp(version)
    const { threadId } = await bridge.call('create_thread', { request_id: freshId('new'), cwd })
    lose()
    const request_id = freshId('lost')
    const args = { request_id, thread_id: threadId, message: 'lost' }
    const sent = await bridge.call('send_message_to_thread', args)
    expect(sent).toMatchObject({ status: 'accepted', delivery: { state: 'acknowledged' } })
    await crash()
    const found = await bridge.reconcile(request_id)
    expect(found).toMatchObject({ status: 'failed', error: { code: 'not_delivered' }, threadId })
    expect(found).not.toHaveProperty('delivery')
  })

  it('leaves a creation that is not complete, without a delivery', async () => {
    const { bridge, cwd, crash, lose } = await setUp(version)
    lose()
    const request_id = freshId('lost')
    const made = await bridge.call('create_thread', { request_id, cwd, prompt: 'lost' })
    expect(made).toMatchObject({ status: 'accepted', delivery: { state: 'acknowledged' } })
    await crash()
    const found = await bridge.reconcile(request_id)
    expect(found).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'not_completed' },
      reconciliation: { verdict: 'created_incomplete' },
      threadId: made.threadId,
    })
    expect(found).not.toHaveProperty('delivery')
  })
})
