import {
  at,
  holdReply,
  isObject,
  type RawClient,
  type StreamedReply,
  testedVersions,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mutatingRequests, startBridge, startHost } from './bridge.ts'

describe.each(testedVersions)('wait_thread on Codex %s', (version) => {
  let bridge: Awaited<ReturnType<typeof startBridge>>
  beforeAll(async () => {
    bridge = await startBridge(version)
  })
  afterAll(() => bridge.close())

  const wait = (threadId: string, turnId: string, timeout?: number, options = {}) =>
    bridge.host.call(
      'wait_thread',
      {
        thread_id: threadId,
        turn_id: turnId,
        ...(timeout === undefined ? {} : { timeout_seconds: timeout }),
      },
      options,
    )

  /** A thread whose turn is held at the model until release(). */
  const heldTurn = async (text: string, client: RawClient = bridge.client) => {
    const held = holdReply()
    bridge.world.model.when(text, held)
    const threadId = await client.startThread({ cwd: bridge.world.cwd })
    const turnId = await client.startTurn(threadId, text)
    await client.waitFor(
      ({ method, params }) =>
        method === 'item/completed' &&
        at(params, 'turnId') === turnId &&
        at(params, 'item.type') === 'userMessage',
    )
    return { threadId, turnId, release: (reply?: StreamedReply) => held.release(reply) }
  }

  const sentSince = (mark: number) =>
    bridge.world.proxy.log
      .slice(mark)
      .filter(({ kind, direction }) => kind === 'request' && direction === 'to-server')

  it('returns when the turn is completed, with its last message', async () => {
    const { threadId, turnId, release } = await heldTurn('hold then finish')
    const answer = wait(threadId, turnId, 50)
    await bridge.world.proxy.waitFor({ kind: 'response', method: 'thread/turns/list' })
    release({ text: 'finished' })
    expect(await answer).toMatchObject({
      threadId,
      turnId,
      timedOut: false,
      observation: 'found',
      turn: {
        id: turnId,
        status: 'completed',
        error: null,
        items: [{ type: 'agentMessage', text: 'finished' }],
      },
    })
  })

  it('never takes the turn before, or one that only begins, for the end', async () => {
    const threadId = await bridge.client.startThread({ cwd: bridge.world.cwd })
    for (let round = 0; round < 15; round += 1) {
      bridge.world.model.when(`round ${round}.`, { text: `answer ${round}` })
      const turnId = await bridge.client.startTurn(threadId, `round ${round}.`)
      expect(await wait(threadId, turnId)).toMatchObject({
        timedOut: false,
        turn: { id: turnId, status: 'completed', items: [{ text: `answer ${round}` }] },
      })
    }
  })

  it('passes a failure on, never as an interruption', async () => {
    bridge.world.model.when(/^break/, { status: 400, body: { error: { message: 'no such model' } } })
    const threadId = await bridge.client.startThread({ cwd: bridge.world.cwd })
    for (let round = 0; round < 10; round += 1) {
      const turnId = await bridge.client.startTurn(threadId, `break ${round}`)
      expect(await wait(threadId, turnId)).toMatchObject({
        timedOut: false,
        turn: {
          id: turnId,
          status: 'failed',
          error: { message: expect.stringContaining('no such model') as string },
        },
      })
    }
  })

  it('returns when the turn is interrupted', async () => {
    const { threadId, turnId } = await heldTurn('hold then stop')
    const answer = wait(threadId, turnId, 50)
    await bridge.client.call('turn/interrupt', { threadId, turnId })
    expect(await answer).toMatchObject({
      timedOut: false,
      turn: { status: 'interrupted', completedAt: expect.any(Number) as number },
    })
  })

  it('returns early when the thread needs a person', async () => {
    const escalated = {
      cmd: 'touch zz.txt',
      sandbox_permissions: 'require_escalated',
      justification: 'need it',
    }
    bridge.world.model.when(
      'needs approval',
      { toolCall: { name: 'exec_command', arguments: escalated } },
      { text: 'ok' },
    )
    const threadId = await bridge.client.startThread({ cwd: bridge.world.cwd, approvalPolicy: 'on-request' })
    const turnId = await bridge.client.startTurn(threadId, 'needs approval')
    const answer = await wait(threadId, turnId, 50)
    expect(answer).toMatchObject({
      timedOut: false,
      attention: { flags: ['waitingOnApproval'] },
      turn: { id: turnId, status: 'inProgress' },
    })
    const { id } = await bridge.client.waitForRequest('item/commandExecution/requestApproval')
    bridge.client.respond(id, { decision: 'decline' })
    expect(await wait(threadId, turnId)).toMatchObject({ timedOut: false, turn: { status: 'completed' } })
  })

  it('does not see a turn of another thread', async () => {
    const { threadId, turnId, release } = await heldTurn('hold for another')
    const other = await bridge.client.startThread({ cwd: bridge.world.cwd })
    expect(await wait(other, turnId, 0.3)).toEqual({
      threadId: other,
      turnId,
      timedOut: true,
      turn: null,
      observation: 'not observed in latest 100 turns',
    })
    release()
    await wait(threadId, turnId)
  })

  it('returns at its time-out with the turn as it stands', async () => {
    const { threadId, turnId, release } = await heldTurn('hold for long')
    const begun = performance.now()
    expect(await wait(threadId, turnId, 0.5)).toMatchObject({
      timedOut: true,
      turn: { id: turnId, status: 'inProgress' },
    })
    expect(performance.now() - begun).toBeGreaterThanOrEqual(499)
    expect(await wait(threadId, turnId, 0)).toMatchObject({ timedOut: true, turn: { status: 'inProgress' } })
    release()
    await wait(threadId, turnId)
  })

  it('ends at once when it is cancelled', async () => {
    const { threadId, turnId, release } = await heldTurn('hold and cancel')
    const controller = new AbortController()
    const answer = wait(threadId, turnId, 50, { signal: controller.signal })
    const begun = performance.now()
    controller.abort()
    await expect(answer).rejects.toMatchObject({ code: 'cancelled' })
    expect(performance.now() - begun).toBeLessThan(1_000)
    release()
    await wait(threadId, turnId)
  })

  it('hears of a thread however the caller spells its id', async () => {
    const { threadId, turnId, release } = await heldTurn('hold and spell')
    const begun = performance.now()
    const answer = wait(threadId.toUpperCase(), turnId, 50)
    await bridge.world.proxy.waitFor({
      kind: 'response',
      method: 'thread/turns/list',
      match: (message) => JSON.stringify(message).includes(turnId),
    })
    release()
    expect(await answer).toMatchObject({ timedOut: false, turn: { status: 'completed' } })
    expect(performance.now() - begun).toBeLessThan(10_000)
  })

  it('refuses a thread that would wait for itself', async () => {
    const id = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
    const answer = wait(id.toUpperCase(), 'turn-1', 0, { caller: { threadId: id } })
    await expect(answer).rejects.toMatchObject({ code: 'self_target', field: 'thread_id' })
  })

  it('says that a thread is unknown', async () => {
    const answer = wait('01900000-0000-7000-8000-000000000000', 'turn-1')
    await expect(answer).rejects.toMatchObject({
      code: 'unknown_thread',
      field: 'thread_id',
      next: 'fix_call',
    })
  })

  it('serves 200 waits with a bounded number of calls', async () => {
    const { threadId, turnId, release } = await heldTurn('hold for many')
    const mark = bridge.world.proxy.log.length
    const answers = Array.from({ length: 200 }, () => wait(threadId, turnId, 50))
    await bridge.world.proxy.waitFor({
      kind: 'response',
      match: (message) => isObject(message) && JSON.stringify(message).includes(turnId),
    })
    release({ text: 'for all' })
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject({
        timedOut: false,
        turn: { status: 'completed', items: [{ text: 'for all' }] },
      })
    expect(sentSince(mark).length).toBeLessThanOrEqual(20)
    expect(sentSince(mark).filter(({ method }) => method === 'thread/items/list').length).toBe(1)
  })

  it('survives a lost connection', async () => {
    const { threadId, turnId, release } = await heldTurn('hold and cut')
    const answer = wait(threadId, turnId, 50)
    await bridge.world.proxy.waitFor({ kind: 'request', method: 'thread/turns/list' })
    bridge.world.proxy.refuse(true)
    bridge.world.proxy.cut()
    release({ text: 'behind your back' })
    await bridge.client.waitFor(
      ({ method, params }) => method === 'turn/completed' && at(params, 'turn.id') === turnId,
    )
    bridge.world.proxy.refuse(false)
    expect(await answer).toMatchObject({ timedOut: false, turn: { items: [{ text: 'behind your back' }] } })
  })

  it('survives a server that is killed and started again, and says that the turn was cut off', async () => {
    const client = await bridge.world.openClient()
    const { threadId, turnId } = await heldTurn('hold and kill', client)
    const answer = wait(threadId, turnId, 50)
    await bridge.world.appServer.restart()
    expect(await answer).toMatchObject({
      timedOut: false,
      observation: 'found',
      turn: { id: turnId, status: 'interrupted', completedAt: null },
    })
    // Without the proxy between, one look is enough: the socket is newer than the turn.
    const host = await startHost(bridge.world.appServer.socketPath)
    const input = { thread_id: threadId, turn_id: turnId, timeout_seconds: 0 }
    const look = await host.call('wait_thread', input).finally(() => host.close())
    expect(look).toMatchObject({ timedOut: false, turn: { status: 'interrupted' } })
  })

  it('has changed nothing on the server', () => {
    expect(mutatingRequests(bridge.world)).toEqual([])
  })
})
