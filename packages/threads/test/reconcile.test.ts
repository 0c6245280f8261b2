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

/** More turns than one page has. */
const MANY_TURNS = 110
/** A turn takes some 0.1 s on a machine of its own. */
const MANY_TURNS_MS = 300_000

describe.each(testedVersions)('reconciliation on App Server %s', (version) => {
  let world: World
  let bridge: Bridge

  beforeAll(async () => {
    world = await startWorld({ version })
    bridge = await startBridge({ socketPath: world.socketPath, timeouts: { 'turn/steer': 2_000 } })
  })
  afterAll(async () => {
    await bridge?.close()
    await world?.close()
  })

  const statusOf = async (threadId: string): Promise<string> => {
    const client = await world.openClient()
    const status = textAt(await client.call('thread/read', { threadId }), 'thread.status.type')
    await client.close()
    return status
  }
  const idle = (threadId: string) =>
    poll(async () => (await statusOf(threadId)) === 'idle', { what: 'the thread to be idle' })
  const newThread = async (prompt: string): Promise<string> =>
    (await bridge.call('create_thread', { request_id: freshId('new'), cwd: world.cwd, prompt })).threadId ??
    ''
  const idleThread = async (): Promise<string> => {
    const threadId = await newThread('first')
    await idle(threadId)
    return threadId
  }
  const busyThread = async () => {
    const held = holdReply()
    const prompt = freshId('hold')
    world.model.when((text) => text === prompt, held)
    const threadId = await newThread(prompt)
    await held.waitHeld()
    return { threadId, held }
  }
  /** Sends a message whose answer is lost for certain, after the server acted. */
  const sendLost = async (threadId: string, method: string, more: object = {}) => {
    const message = freshId('lost')
    const rule = world.proxy.on({ direction: 'to-server', kind: 'request', method }, { cut: 'after' })
    const args = { request_id: message, thread_id: threadId, message, ...more }
    const receipt = await bridge.call('send_message_to_thread', args)
    rule.remove()
    expect(receipt.status).toBe('outcome_unknown')
    return message
  }

  it('finds a message in a thread that was archived since', async () => {
    const threadId = await idleThread()
    const message = await sendLost(threadId, 'turn/start')
    await idle(threadId)
    const client = await world.openClient()
    await client.call('thread/archive', { threadId })
    expect(await bridge.reconcile(message)).toMatchObject({
      status: 'accepted',
      reconciliation: { verdict: 'delivered' },
    })
  })

  it('finds a message that still waits in the queue, then its turn', async () => {
    const { threadId, held } = await busyThread()
    const message = await sendLost(threadId, 'thread/queue/add', { if_busy: 'queue' })
    expect(await bridge.reconcile(message)).toMatchObject({
      status: 'accepted',
      delivery: { state: 'recorded', as: 'queue' },
      reconciliation: { verdict: 'delivered' },
    })
    held.release()
    await idle(threadId)
  })

  it('never misses a message on its way from the queue into the history', async () => {
    const { threadId, held } = await busyThread()
    const messages: string[] = []
    for (let count = 0; count < 5; count += 1)
      messages.push(await sendLost(threadId, 'thread/queue/add', { if_busy: 'queue' }))
    held.release()
    const verdicts = await Promise.all(
      messages.map(async (message) => (await bridge.reconcile(message)).reconciliation?.verdict),
    )
    expect(verdicts).toEqual(messages.map(() => 'delivered'))
    await idle(threadId)
  })

  it('does not take a fork’s copy of a message for the message', async () => {
    const threadId = await idleThread()
    const message = await sendLost(threadId, 'turn/start')
    await idle(threadId)
    const client = await world.openClient()
    const fork = textAt(await client.call('thread/fork', { threadId }), 'thread.id')
    const found = await bridge.reconcile(message)
    expect(found).toMatchObject({ status: 'accepted', threadId })
    expect(found.threadId).not.toBe(fork)
  })

  it('says of an acknowledged steer that vanished that it is not there', async () => {
    const { threadId, held } = await busyThread()
    const client = await world.openClient()
    const turns = await client.call('thread/turns/list', { threadId, limit: 1 })
    const turnId = textAt(turns, 'data.0.id')
    const interrupting = world.proxy
      .waitFor({ direction: 'to-client', kind: 'response', method: 'turn/steer' })
      .then(() => client.call('turn/interrupt', { threadId, turnId }))
    const message = freshId('vanishing')
    const args = { request_id: message, thread_id: threadId, message, if_busy: 'steer' }
    const receipt = await bridge.call('send_message_to_thread', args)
    await interrupting
    held.release()
    await idle(threadId)
    const there = (await client.transcript(threadId)).includes(message)
    const found = await bridge.reconcile(message)
    if (there)
      expect(found).toMatchObject({ status: 'accepted', delivery: { state: 'recorded', as: 'steer' } })
    else
      expect(found).toMatchObject({
        delivery: { state: 'acknowledged', as: 'steer' },
        reconciliation: { verdict: 'not_found' },
      })
    expect(receipt.status).toBe('accepted')
  })

  it('calls an acknowledged message that died with the server not delivered', async () => {
    const own = await startWorld({ version })
    const there = await startBridge({
      socketPath: own.appServer.socketPath,
      timeouts: { 'turn/start': 5_000 },
    })
    try {
      const created = await there.call('create_thread', { request_id: freshId('new'), cwd: own.cwd })
      const threadId = created.threadId ?? ''
      const message = freshId('acknowledged')
      const killer = await startBridge({
        socketPath: own.appServer.socketPath,
        stateDir: there.stateDir,
        afterCall: async (method) => {
          if (method === 'turn/start') await own.appServer.kill()
        },
      })
      const receipt = await killer.call('send_message_to_thread', {
        request_id: message,
        thread_id: threadId,
        message,
      })
      await killer.close()
      expect(receipt).toMatchObject({ status: 'accepted', delivery: { as: 'turn' } })
      await own.appServer.restart()
      const found = await there.reconcile(message)
      const client = await own.openClient()
      await client.call('thread/resume', { threadId, excludeTurns: true })
      const arrived = (await client.transcript(threadId)).includes(message)
      expect(found).toMatchObject(
        arrived
          ? { status: 'accepted', delivery: { state: 'recorded' } }
          : { status: 'failed', next: 'new_request_id', error: { code: 'not_delivered' } },
      )
    } finally {
      await there.close()
      await own.close()
    }
  })

  it(
    'finds an old message behind more turns than a page has, in few calls',
    async () => {
      const threadId = await idleThread()
      const message = await sendLost(threadId, 'turn/start')
      await idle(threadId)
      const client = await world.openClient()
      await client.call('thread/resume', { threadId, excludeTurns: true })
      for (let count = 0; count < MANY_TURNS; count += 1) await client.runTurn(threadId, `turn ${count}`)
      const before = world.proxy.log.length
      const found = await bridge.reconcile(message)
      expect(found).toMatchObject({
        status: 'accepted',
        reconciliation: { verdict: 'delivered', looked: { calls: 3, pages: 2 } },
      })
      const calls = world.proxy.log
        .slice(before)
        .filter(({ kind, direction }) => kind === 'request' && direction === 'to-server')
      expect(calls.map(({ method }) => method)).toEqual([
        'thread/queue/list',
        'thread/turns/list',
        'thread/turns/list',
      ])
    },
    MANY_TURNS_MS,
  )

  it('upgrades an acknowledged delivery to a recorded one', async () => {
    const threadId = await idleThread()
    const blind = await startBridge({ socketPath: world.socketPath, stateDir: bridge.stateDir })
    const notifications = world.proxy.on(
      { direction: 'to-client', kind: 'notification', method: 'item/completed', times: Infinity },
      'drop',
    )
    const items = world.proxy.on(
      { direction: 'to-server', kind: 'request', method: 'thread/items/list', times: Infinity },
      { respond: { result: { data: [] } } },
    )
    const message = freshId('unseen')
    const receipt = await blind.call('send_message_to_thread', {
      request_id: message,
      thread_id: threadId,
      message,
    })
    notifications.remove()
    items.remove()
    await blind.close()
    expect(receipt).toMatchObject({ status: 'accepted', delivery: { state: 'acknowledged', as: 'turn' } })
    expect(await bridge.reconcile(message)).toMatchObject({
      status: 'accepted',
      delivery: { state: 'recorded', as: 'turn' },
      reconciliation: { verdict: 'delivered' },
    })
  })
})
