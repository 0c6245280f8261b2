import { readFileSync } from 'node:fs'
import { TransportError } from '@codex-thread-bridge/core/contract'
import type { Method } from '@codex-thread-bridge/core/protocol'
import { poll, startWorld, testedVersions, textAt, type World } from '@codex-thread-bridge/test-fixtures'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freshId, startBridge, type Bridge } from './bridge.ts'

describe.each(testedVersions)('when App Server %s is killed', (version) => {
  let world: World
  let bridge: Bridge
  let before: (method: Method) => Promise<void>

  beforeEach(async () => {
    before = async () => undefined
    world = await startWorld({ version, config: 'sandbox_mode = "danger-full-access"' })
    bridge = await startBridge({
      socketPath: world.appServer.socketPath,
      timeouts: { 'turn/start': 1_000, 'thread/start': 1_000 },
      beforeCall: (method) => before(method),
    })
  })
  afterEach(async () => {
    await bridge?.close()
    await world?.close()
  })

  const create = (more: object = {}) =>
    bridge.call('create_thread', { request_id: freshId('create'), cwd: world.cwd, ...more })
  const send = (thread_id: string, message: string, request_id = freshId('send')) =>
    bridge.call('send_message_to_thread', { request_id, thread_id, message })
  /** The App Server answers a moment before what it was told is in the file of the thread. */
  const written = async (threadId: string): Promise<void> => {
    const client = await world.openClient()
    const path = textAt(await client.call('thread/read', { threadId }), 'thread.path')
    await poll(() => readFileSync(path, 'utf8').includes('"thread_settings_applied"'), {
      what: 'the settings to be in the rollout',
    })
  }
  const crash = async (): Promise<void> => {
    await world.appServer.kill()
    await world.appServer.restart()
  }

  it.each([
    ['untitled', 'read-only', {}],
    ['titled', 'read-only', { title: 'Kept' }],
    ['untitled', 'workspace-write', { sandbox: 'workspace-write' }],
    ['titled', 'workspace-write', { title: 'Kept', sandbox: 'workspace-write' }],
  ])('an empty %s %s thread comes back as it was and can be messaged', async (_titled, sandbox, more) => {
    const created = await create(more)
    expect(created).toMatchObject({ status: 'accepted', durable: true, restartSafe: true })
    await written(created.threadId ?? '')
    await crash()
    const sent = await send(created.threadId ?? '', 'after the crash')
    expect(sent).toMatchObject({
      status: 'accepted',
      delivery: { state: 'recorded', as: 'turn' },
      verifiedEnvironment: { matches: true },
      resumed: {
        approvalPolicy: 'never',
        sandbox: { type: sandbox === 'read-only' ? 'readOnly' : 'workspaceWrite' },
        thread: { name: 'title' in more ? more.title : null },
      },
    })
  })

  it('a thread with a custom policy that came back wider gets no message', async () => {
    const created = await create({
      sandbox: 'workspace-write',
      sandbox_policy: {
        type: 'workspaceWrite',
        writableRoots: [],
        networkAccess: true,
        excludeTmpdirEnvVar: true,
        excludeSlashTmp: true,
      },
    })
    expect(created).toMatchObject({ status: 'accepted', requestedAs: 'sandbox', restartSafe: false })
    await crash()
    expect(await send(created.threadId ?? '', 'never sent')).toMatchObject({
      status: 'failed',
      error: { code: 'settings_drifted' },
      resumed: { sandbox: { type: 'dangerFullAccess' } },
    })
  })

  it('a message that it had not read yet is provably not delivered', async () => {
    const created = await create()
    before = async (method) => {
      if (method === 'turn/start') await world.appServer.freeze()
    }
    const request_id = freshId('frozen')
    expect(await send(created.threadId ?? '', 'never read', request_id)).toMatchObject({
      status: 'outcome_unknown',
      next: 'reconcile',
      error: { code: 'request_timeout' },
    })
    before = async () => undefined
    await crash()
    expect(await bridge.reconcile(request_id)).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'not_delivered' },
      reconciliation: { verdict: 'not_delivered' },
    })
    const again = await send(created.threadId ?? '', 'never read')
    expect(again).toMatchObject({ status: 'accepted', delivery: { state: 'recorded' } })
    const client = await world.openClient()
    await poll(async () => (await client.transcript(created.threadId ?? '')).length === 2, {
      what: 'the turn to end',
    })
    expect(await client.transcript(created.threadId ?? '')).toEqual(['never read', 'ok'])
  })

  it('a creation that it had not read yet is provably gone', async () => {
    before = async (method) => {
      if (method === 'thread/start') await world.appServer.freeze()
    }
    const request_id = freshId('frozen')
    const receipt = await bridge.call('create_thread', { request_id, cwd: world.cwd })
    expect(receipt).toMatchObject({ status: 'outcome_unknown', next: 'reconcile' })
    before = async () => undefined
    await crash()
    expect(await bridge.reconcile(request_id)).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'not_delivered' },
      reconciliation: { verdict: 'not_delivered' },
    })
    expect((await create()).status).toBe('accepted')
  })

  it('a creation that it carried out, and that nobody heard of, is provably gone', async () => {
    const deaf = await startBridge({
      socketPath: world.appServer.socketPath,
      afterCall: async (method) => {
        if (method !== 'thread/start') return
        await world.appServer.kill()
        throw new TransportError('connection_lost', 'The answer is lost.', 'unknown')
      },
    })
    const request_id = freshId('unheard')
    const args = { request_id, cwd: world.cwd, prompt: 'never sent' }
    expect(await deaf.call('create_thread', args)).toMatchObject({ status: 'outcome_unknown' })
    await world.appServer.restart()
    // What the dead bridge may have heard of the thread went with it.
    await deaf.host.close()
    const later = await startBridge({ socketPath: world.appServer.socketPath, stateDir: deaf.stateDir })
    const found = await later.reconcile(request_id)
    expect(found).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'not_delivered' },
      reconciliation: { verdict: 'not_delivered' },
    })
    expect(await later.call('create_thread', args)).toEqual({ ...found, replayed: true })
    await later.close()
    await deaf.close()
  })

  it('a call that finds nobody leaves no receipt', async () => {
    const created = await create()
    await world.appServer.kill()
    const request_id = freshId('absent')
    await expect(send(created.threadId ?? '', 'x', request_id)).rejects.toMatchObject({
      code: 'socket_stale',
      next: 'same_request_id',
    })
    await expect(bridge.receipt(request_id)).rejects.toMatchObject({ code: 'unknown_request' })
  })

  it('reconciliation says that nobody answers, and keeps the receipt uncertain', async () => {
    const created = await create()
    before = async (method) => {
      if (method === 'turn/start') await world.appServer.freeze()
    }
    const request_id = freshId('frozen')
    await send(created.threadId ?? '', 'never read', request_id)
    await world.appServer.kill()
    expect(await bridge.reconcile(request_id)).toMatchObject({
      status: 'outcome_unknown',
      next: 'reconcile',
      reconciliation: { verdict: 'unreachable', looked: { code: 'socket_stale' } },
    })
  })
})
