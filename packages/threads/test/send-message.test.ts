import {
  holdReply,
  openRawClient,
  poll,
  startWorld,
  testedVersions,
  textAt,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshId, startBridge, type Bridge } from './bridge.ts'

describe.each(testedVersions)('send_message_to_thread on App Server %s', (version) => {
  let world: World
  let bridge: Bridge

  beforeAll(async () => {
    world = await startWorld({ version })
    bridge = await startBridge({
      socketPath: world.socketPath,
      timeouts: { 'turn/start': 2_000, 'thread/resume': 2_000 },
    })
  })
  afterAll(async () => {
    await bridge?.close()
    await world?.close()
  })

  const newThread = async (prompt?: string): Promise<string> => {
    const args = { request_id: freshId('new'), cwd: world.cwd, ...(prompt === undefined ? {} : { prompt }) }
    return (await bridge.call('create_thread', args)).threadId ?? ''
  }
  const send = (thread_id: string, message: string, more: object = {}) =>
    bridge.call('send_message_to_thread', { request_id: freshId('send'), thread_id, message, ...more })
  const transcript = async (threadId: string): Promise<readonly string[]> => {
    const client = await world.openClient()
    return client.transcript(threadId)
  }
  const idle = async (threadId: string): Promise<void> => {
    const client = await world.openClient()
    await poll(
      async () => textAt(await client.call('thread/read', { threadId }), 'thread.status.type') === 'idle',
      {
        what: 'the thread to be idle',
      },
    )
    await client.close()
  }
  /** A thread with a turn that runs until it is released. */
  const busyThread = async () => {
    const held = holdReply({ then: { text: 'first answer' } })
    const prompt = freshId('hold this')
    world.model.when((text) => text === prompt, held)
    const threadId = await newThread(prompt)
    await held.waitHeld()
    return { threadId, prompt, held }
  }

  it('starts a turn in an idle thread and records the exact message', async () => {
    const threadId = await newThread('first')
    await idle(threadId)
    const message = '  a follow-up\n'
    const receipt = await send(threadId, message)
    expect(receipt).toMatchObject({
      status: 'accepted',
      next: 'none',
      threadId,
      verifiedEnvironment: { matches: true, differences: [] },
      delivery: { state: 'recorded', as: 'turn' },
    })
    expect(receipt.steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'thread/resume answered',
      'turn/start answered',
      'thread/unsubscribe answered',
    ])
    expect((await transcript(threadId)).filter((text) => text === message)).toEqual([message])
  })

  it('resumes without any override', async () => {
    const threadId = await newThread('first')
    await idle(threadId)
    await send(threadId, 'hello')
    const resume = world.proxy.sent('thread/resume').at(-1)
    expect(resume?.message).toMatchObject({ params: { threadId, excludeTurns: true } })
    expect(Object.keys((resume?.message as { params: object }).params)).toEqual(['threadId', 'excludeTurns'])
  })

  it('refuses a busy thread and sends nothing', async () => {
    const { threadId, held } = await busyThread()
    const before = world.proxy.sent('thread/resume').length
    const receipt = await send(threadId, 'not now')
    expect(receipt).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'thread_busy' },
      steps: [],
    })
    expect(world.proxy.sent('thread/resume').length).toBe(before)
    held.release()
    await idle(threadId)
    expect(await transcript(threadId)).not.toContain('not now')
  })

  it('steers the running turn when asked to', async () => {
    const { threadId, held, prompt } = await busyThread()
    const sending = send(threadId, 'steer left', { if_busy: 'steer' })
    await world.proxy.waitFor({ direction: 'to-server', kind: 'request', method: 'turn/steer' })
    held.release()
    const receipt = await sending
    expect(receipt).toMatchObject({ status: 'accepted', delivery: { as: 'steer' } })
    await idle(threadId)
    expect((await transcript(threadId)).slice(0, 1)).toEqual([prompt])
    expect(await transcript(threadId)).toContain('steer left')
    expect(await bridge.reconcile(receipt.requestId)).toMatchObject({
      status: 'accepted',
      turnId: receipt.turnId,
      delivery: { state: 'recorded', as: 'steer' },
    })
  })

  it('queues the message behind the running turn when asked to', async () => {
    const { threadId, held, prompt } = await busyThread()
    const receipt = await send(threadId, 'after that', { if_busy: 'queue' })
    expect(receipt).toMatchObject({ status: 'accepted', delivery: { state: 'recorded', as: 'queue' } })
    held.release()
    await poll(async () => (await transcript(threadId)).length === 4, { what: 'the queued turn to end' })
    expect(await transcript(threadId)).toEqual([prompt, 'first answer', 'after that', 'ok'])
  })

  it('starts a new turn when the turn to steer has just ended, under the same receipt', async () => {
    const { threadId, held } = await busyThread()
    const rule = world.proxy.on({ direction: 'to-server', kind: 'request', method: 'turn/steer' }, 'delay')
    const sending = send(threadId, 'too late to steer', { if_busy: 'steer' })
    await rule.waitFired()
    held.release()
    await idle(threadId)
    rule.release()
    const receipt = await sending
    rule.remove()
    expect(receipt).toMatchObject({ status: 'accepted', delivery: { state: 'recorded', as: 'turn' } })
    expect(receipt.steps.map(({ name, state }) => `${name} ${state}`).slice(1, 3)).toEqual([
      'turn/steer rejected',
      'turn/start answered',
    ])
    expect((await transcript(threadId)).filter((text) => text === 'too late to steer')).toHaveLength(1)
  })

  it('treats a queued message on an unloaded thread as busy', async () => {
    const own = await startWorld({ version })
    const there = await startBridge({ socketPath: own.appServer.socketPath })
    try {
      const created = await there.call('create_thread', {
        request_id: freshId('new'),
        cwd: own.cwd,
        prompt: 'first',
      })
      const threadId = created.threadId ?? ''
      await own.model.waitForRequests(1)
      await own.appServer.restart()
      const client = await own.openClient()
      await client.call('thread/queue/add', {
        threadId,
        input: [{ type: 'text', text: 'queued' }],
        clientUserMessageId: '',
      })
      const receipt = await there.call('send_message_to_thread', {
        request_id: freshId('send'),
        thread_id: threadId,
        message: 'me too',
      })
      expect(receipt).toMatchObject({ status: 'failed', error: { code: 'thread_busy' }, steps: [] })
    } finally {
      await there.close()
      await own.close()
    }
  })

  it('keeps two bridges that message one thread at once apart', async () => {
    const threadId = await newThread('first')
    await idle(threadId)
    const other = await startBridge({ socketPath: world.socketPath, stateDir: bridge.stateDir })
    const held = holdReply()
    world.model.when(/^from /, held)
    try {
      const message = (from: Bridge, name: string) =>
        from.call('send_message_to_thread', {
          request_id: freshId(name),
          thread_id: threadId,
          message: `from ${name}`,
        })
      const receipts = await Promise.all([message(bridge, 'one'), message(other, 'two')])
      expect(receipts.map(({ status }) => status).sort()).toEqual(['accepted', 'failed'])
      expect(receipts.find(({ status }) => status === 'failed')?.error?.code).toBe('thread_busy')
      expect((await transcript(threadId)).filter((text) => text.startsWith('from '))).toHaveLength(1)
    } finally {
      held.release()
      await other.close()
    }
  })

  it('messages a thread of another client when it is as its last turn left it', async () => {
    const client = await world.openClient()
    const threadId = await client.startThread({ cwd: world.cwd })
    await client.runTurn(threadId, 'by another client')
    const receipt = await send(threadId, 'hello')
    expect(receipt).toMatchObject({
      status: 'accepted',
      verifiedEnvironment: { matches: true, differences: [] },
    })
    // From 0.163 on a turn writes its settings right behind its context.
    expect(receipt.environmentEvidence).toBeOneOf(['turn_context', 'settings'])
    expect(await transcript(threadId)).toContain('hello')
  })

  it('goes on without a record, and says so', async () => {
    const client = await world.openClient()
    const threadId = await client.startThread({ cwd: world.cwd })
    await client.call('thread/section/move', { threadId, sectionId: null })
    const receipt = await send(threadId, 'hello')
    expect(receipt).toMatchObject({ status: 'accepted', environmentEvidence: 'none' })
    expect(receipt).not.toHaveProperty('verifiedEnvironment')
  })

  it.each([
    ['sandbox.type', { sandbox: { type: 'dangerFullAccess' } }],
    ['sandbox.networkAccess', { sandbox: { type: 'readOnly', networkAccess: true } }],
    ['approvalPolicy', { approvalPolicy: 'on-request' }],
    ['approvalsReviewer', { approvalsReviewer: 'auto_review' }],
    ['activePermissionProfile.id', { activePermissionProfile: null }],
    ['model', { model: 'another' }],
    ['reasoningEffort', { reasoningEffort: 'low' }],
    ['cwd', { cwd: '/elsewhere' }],
  ])('sends nothing when %s came back changed', async (field, change) => {
    const threadId = await newThread('first')
    await idle(threadId)
    const rule = world.proxy.on(
      { direction: 'to-client', kind: 'response', method: 'thread/resume' },
      {
        rewrite: (message) => ({
          ...(message as object),
          result: { ...(message as { result: object }).result, ...change },
        }),
      },
    )
    const receipt = await send(threadId, 'never sent')
    rule.remove()
    expect(receipt).toMatchObject({
      status: 'failed',
      error: { code: 'settings_drifted' },
      verifiedEnvironment: { matches: false },
    })
    expect(receipt.verifiedEnvironment?.differences.map((difference) => difference.field)).toContain(field)
    expect(await transcript(threadId)).not.toContain('never sent')
  })

  it('knows a thread by its id however that is written', async () => {
    const threadId = await newThread('first')
    await idle(threadId)
    const receipt = await send(threadId.toUpperCase().replaceAll('-', ''), 'hello')
    expect(receipt).toMatchObject({
      status: 'accepted',
      threadId,
      environmentEvidence: expect.not.stringMatching('none') as string,
      delivery: { state: 'recorded' },
    })
    expect(await transcript(threadId)).toContain('hello')
  })

  it('names the remedy for an archived thread', async () => {
    const threadId = await newThread('first')
    await idle(threadId)
    const client = await world.openClient()
    await client.call('thread/archive', { threadId })
    expect(await send(threadId, 'hello')).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'thread_archived', details: { hint: expect.stringContaining('unarchive') as string } },
    })
  })

  it('says that a thread is unknown, and keeps the refusal', async () => {
    expect(await send('01a22d6c-ee00-7d30-84f1-a4cd16c32862', 'hello')).toMatchObject({
      status: 'failed',
      error: { code: 'thread_not_found' },
      steps: [],
    })
  })

  it('refuses the calling thread itself before anything is recorded', async () => {
    const request_id = freshId('self')
    const args = { request_id, thread_id: 'thread-1', message: 'hello' }
    await expect(
      bridge.call('send_message_to_thread', args, { caller: { threadId: 'thread-1' } }),
    ).rejects.toMatchObject({
      code: 'self_target',
      next: 'fix_call',
    })
    await expect(bridge.receipt(request_id)).rejects.toMatchObject({ code: 'unknown_request' })
  })

  it('calls a lost resume failed: no message left', async () => {
    const threadId = await newThread('first')
    await idle(threadId)
    const rule = world.proxy.on(
      { direction: 'to-server', kind: 'request', method: 'thread/resume' },
      { cut: 'after' },
    )
    const receipt = await send(threadId, 'not sent')
    rule.remove()
    expect(receipt).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'not_sent', details: { cause: 'connection_lost' } },
    })
    expect(await transcript(threadId)).not.toContain('not sent')
  })

  it('finds a message whose answer was lost, and sends it only once', async () => {
    const threadId = await newThread('first')
    await idle(threadId)
    const rule = world.proxy.on(
      { direction: 'to-server', kind: 'request', method: 'turn/start' },
      { cut: 'after' },
    )
    const args = { request_id: freshId('lost'), thread_id: threadId, message: 'did it arrive?' }
    const receipt = await bridge.call('send_message_to_thread', args)
    rule.remove()
    expect(receipt).toMatchObject({
      status: 'outcome_unknown',
      next: 'reconcile',
      error: { code: 'connection_lost' },
    })
    expect(await bridge.call('send_message_to_thread', args)).toMatchObject({
      replayed: true,
      status: 'outcome_unknown',
    })
    await idle(threadId)
    const found = await bridge.reconcile(args.request_id)
    expect(found).toMatchObject({
      status: 'accepted',
      next: 'none',
      delivery: { state: 'recorded', as: 'turn' },
      reconciliation: { verdict: 'delivered', serverVersion: version },
    })
    expect(found.turnId).toBeTypeOf('string')
    expect(found).not.toHaveProperty('error')
    expect((await transcript(threadId)).filter((text) => text === args.message)).toHaveLength(1)
  })

  it('cannot know what became of a lost message without markers, and says so', async () => {
    const plain = await startBridge({
      socketPath: world.socketPath,
      stateDir: bridge.stateDir,
      deliveryMarkers: false,
    })
    try {
      const threadId = await newThread('first')
      await idle(threadId)
      const rule = world.proxy.on(
        { direction: 'to-server', kind: 'request', method: 'turn/start' },
        { cut: 'after' },
      )
      const args = { request_id: freshId('unmarked'), thread_id: threadId, message: 'unmarked' }
      expect(await plain.call('send_message_to_thread', args)).toMatchObject({ status: 'outcome_unknown' })
      rule.remove()
      expect(rule.fired[0]?.message).not.toHaveProperty('params.clientUserMessageId')
      expect(await plain.reconcile(args.request_id)).toMatchObject({
        status: 'outcome_unknown',
        reconciliation: { verdict: 'unknowable' },
      })
    } finally {
      await plain.close()
    }
  })

  it('takes a late answer as the truth', async () => {
    const threadId = await newThread('first')
    await idle(threadId)
    const hasty = await startBridge({
      socketPath: world.socketPath,
      stateDir: bridge.stateDir,
      timeouts: { 'turn/start': 300 },
    })
    const rule = world.proxy.on(
      { direction: 'to-client', kind: 'response', method: 'turn/start' },
      'withhold',
    )
    try {
      const args = { request_id: freshId('late'), thread_id: threadId, message: 'late answer' }
      expect(await hasty.call('send_message_to_thread', args)).toMatchObject({ status: 'outcome_unknown' })
      rule.release()
      await poll(async () => (await hasty.receipt(args.request_id)).status === 'accepted', {
        what: 'the receipt to be settled',
      })
      expect(await hasty.receipt(args.request_id)).toMatchObject({
        delivery: { state: 'recorded', as: 'turn' },
      })
    } finally {
      rule.remove()
      await hasty.close()
    }
  })

  it('is no longer subscribed once the delivery is recorded', async () => {
    const threadId = await newThread('first')
    await idle(threadId)
    await send(threadId, 'second')
    await idle(threadId)
    const seen = world.proxy.log.length
    const client = await openRawClient(world.appServer.socketPath)
    await client.call('thread/resume', { threadId, excludeTurns: true })
    await client.runTurn(threadId, 'by another client')
    await client.close()
    const leaked = world.proxy.log
      .slice(seen)
      .filter(
        ({ direction, kind, method }) =>
          direction === 'to-client' && kind === 'notification' && /^(item|turn)\//.test(method ?? ''),
      )
    expect(leaked.map(({ method }) => method)).toEqual([])
  })

  it('keeps the receipt of a bridge that cannot connect out of the ledger', async () => {
    const nowhere = await startBridge({ socketPath: `${world.home.path}/nobody.sock` })
    try {
      const request_id = freshId('absent')
      const call = nowhere.call('send_message_to_thread', { request_id, thread_id: 't', message: 'hello' })
      await expect(call).rejects.toMatchObject({ code: 'socket_absent', next: 'same_request_id' })
      await expect(nowhere.receipt(request_id)).rejects.toMatchObject({ code: 'unknown_request' })
    } finally {
      await nowhere.close()
    }
  })
})
