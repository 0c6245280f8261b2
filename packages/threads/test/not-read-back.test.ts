import type { Receipt } from '@codex-thread-bridge/core/ledger'
import {
  poll,
  startWorld,
  testedVersions,
  textAt,
  type FaultAction,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshId, startBridge, type Bridge } from './bridge.ts'

/** Comes back otherwise on every App Server. */
const custom = {
  sandbox: 'workspace-write',
  config: { sandbox_workspace_write: { network_access: true, exclude_slash_tmp: true } },
}
const resumes = { direction: 'to-server', kind: 'request', method: 'thread/resume' } as const

describe.each(testedVersions)('a restored message that cannot be read back, on App Server %s,', (version) => {
  let world: World
  let bridge: Bridge
  const threads: string[] = []

  beforeAll(async () => {
    world = await startWorld({ version })
    const client = await world.openClient()
    for (let left = 4; left > 0; left -= 1) {
      const made = await client.call('thread/start', { cwd: world.cwd, approvalPolicy: 'never', ...custom })
      threads.push(textAt(made, 'thread.id'))
      await client.runTurn(threads.at(-1) ?? '', 'by another client')
    }
    await world.appServer.kill()
    await world.appServer.restart()
    bridge = await startBridge({ socketPath: world.socketPath, timeouts: { 'thread/resume': 1_000 } })
  })
  afterAll(async () => {
    await bridge?.close()
    await world?.close()
  })

  /** The message as it is told, `action` having struck its second resume. */
  const restored = async (action: FaultAction): Promise<{ receipt: Receipt; release: () => void }> => {
    const request_id = freshId('restored')
    const args = { request_id, thread_id: threads.pop(), message: request_id, on_settings_drift: 'restore' }
    const before = world.proxy.reached('thread/resume').length
    const sending = bridge.call('send_message_to_thread', args)
    await poll(() => world.proxy.reached('thread/resume').length > before, { what: 'the first resume' })
    const rule = world.proxy.on(resumes, action)
    return { receipt: await sending, release: () => rule.release() }
  }
  const expectDelivered = async ({ threadId = '', requestId }: Receipt): Promise<void> => {
    const client = await world.openClient()
    const texts = await client.transcript(threadId)
    expect(texts.filter((text) => text === requestId)).toHaveLength(1)
    await client.close()
  }
  const delivered = {
    status: 'accepted',
    next: 'none',
    turnId: expect.any(String) as string,
    delivery: { state: 'recorded', as: 'turn' },
    // As it was before the message: nothing newer is known.
    verifiedEnvironment: { matches: false },
  }

  it.each<[string, FaultAction]>([
    ['its answer is lost', 'drop'],
    ['the connection ends', { cut: 'before' }],
    ['the server refuses', { respond: { error: { code: -32600, message: 'no' } } }],
  ])('is told as delivered: %s', async (_, action) => {
    const { receipt } = await restored(action)
    expect(receipt).toMatchObject(delivered)
    expect(receipt).not.toHaveProperty('effective')
    expect(receipt).not.toHaveProperty('error')
    await expectDelivered(receipt)
    expect(await bridge.reconcile(receipt.requestId)).toEqual({ ...receipt, replayed: false })
    // What its turn ran under is the record now: the restored settings are in force.
    const next = {
      request_id: freshId('next'),
      thread_id: receipt.threadId,
      message: 'next',
      if_busy: 'queue',
    }
    expect(await bridge.call('send_message_to_thread', next)).toMatchObject({
      status: 'accepted',
      verifiedEnvironment: { matches: true },
    })
  })

  it('learns what is in force from an answer that comes late', async () => {
    const { receipt, release } = await restored('withhold')
    expect(receipt).toMatchObject(delivered)
    expect(receipt).not.toHaveProperty('effective')
    release()
    await poll(async () => (await bridge.receipt(receipt.requestId)).effective !== undefined, {
      what: 'the late answer',
    })
    expect(await bridge.receipt(receipt.requestId)).toMatchObject({
      ...delivered,
      effective: { sandbox: { type: 'workspaceWrite', networkAccess: true } },
      verifiedEnvironment: { matches: true, differences: [] },
    })
  })
})
