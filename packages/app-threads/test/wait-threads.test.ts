import { at, holdReply, listAt, poll, testedVersions, textAt } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refusal, startFamily, startStage, type Stage } from './family.ts'

const UNKNOWN = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'

describe.each(testedVersions)('wait_threads on Codex %s', (version) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage(version)
  })
  afterAll(() => stage.close())

  const wait = (targets: readonly object[], args: object = {}) =>
    stage.call('wait_threads', { targets, timeoutMs: 20_000, ...args })
  /** A thread whose turn runs until it is released. */
  const running = async (text: string) => {
    const held = holdReply({ then: { text: `${text} is done` } })
    stage.world.model.when(text, held)
    const threadId = await stage.threadWith('before')
    const turnId = await stage.client.startTurn(threadId, text)
    await held.waitHeld()
    return { threadId, turnId, held }
  }

  it('answers at once when a turn is over already, with its outcome and last message', async () => {
    const threadId = await stage.threadWith('one')
    const answer = await wait([{ threadId }])
    expect(answer).toMatchObject({
      timedOut: false,
      wake: { reason: 'turnCompleted', threadId, hostId: 'local', turnId: expect.any(String) as string },
      polls: [
        {
          revision: 1,
          changed: true,
          thread: { id: threadId, hostId: 'local', status: { type: 'idle' } },
          latestTurn: { status: 'completed', error: null },
          latestAssistantMessage: { text: 'ok', truncated: false, originalChars: 2 },
          latestToolMarker: null,
        },
      ],
      errors: [],
    })
    const cursor = textAt(answer, 'polls.0.cursor')
    expect(cursor).toMatch(/^w[\w-]+$/)
  })

  it('wakes by event at the first of several, with the state of every target', async () => {
    const [one, two] = [await running('first job'), await running('second job')]
    const waiting = wait([{ threadId: one.threadId }, { threadId: two.threadId }])
    await stage.world.proxy.waitFor({ method: 'thread/turns/list', nth: 1 })
    two.held.release()
    const answer = await waiting
    expect(answer).toMatchObject({
      timedOut: false,
      wake: { reason: 'turnCompleted', threadId: two.threadId, turnId: two.turnId },
      polls: [
        {
          thread: { id: one.threadId, status: { type: 'active' } },
          latestTurn: { id: one.turnId, status: 'inProgress' },
        },
        { thread: { id: two.threadId }, latestTurn: { id: two.turnId, status: 'completed' } },
      ],
    })
    expect(at(answer, 'polls.1.latestAssistantMessage.text')).toBe('second job is done')
    one.held.release()
  })

  it('waits for all when it is asked to', async () => {
    const [one, two] = [await running('third job'), await running('fourth job')]
    let over = false
    const waiting = wait([{ threadId: one.threadId }, { threadId: two.threadId }], { mode: 'all' })
    void waiting.then(() => (over = true))
    one.held.release()
    await poll(async () => at(await wait([{ threadId: one.threadId }]), 'timedOut') === false)
    expect(over).toBe(false)
    two.held.release()
    expect(listAt(await waiting, 'polls').map((entry) => at(entry, 'latestTurn.status'))).toEqual([
      'completed',
      'completed',
    ])
  })

  it('goes on from a cursor: nothing new is nothing, over a restart of the bridge too', async () => {
    const threadId = await stage.threadWith('one')
    const afterCursor = textAt(await wait([{ threadId }]), 'polls.0.cursor')
    const none = await wait([{ threadId, afterCursor }], { timeoutMs: 300 })
    expect(none).toMatchObject({
      timedOut: true,
      wake: null,
      polls: [{ changed: false, revision: 1, cursor: afterCursor, latestAssistantMessage: null }],
    })
    const later = await startFamily(stage.world.socketPath)
    await stage.client.runTurn(threadId, 'two')
    const news = await later.call('wait_threads', { targets: [{ threadId, afterCursor }] })
    await later.close()
    expect(news).toMatchObject({
      timedOut: false,
      wake: { reason: 'turnCompleted' },
      polls: [{ changed: true, revision: 2 }],
    })
    expect(at(news, 'polls.0.cursorReset')).toBeUndefined()
  })

  it('answers a foreign cursor with the whole state, and says so', async () => {
    const [threadId, other] = [await stage.threadWith('one'), await stage.threadWith('one')]
    const foreign = textAt(await wait([{ threadId: other }]), 'polls.0.cursor')
    for (const afterCursor of [foreign, '{"turn":1}', 'w', ''])
      expect(await wait([{ threadId, afterCursor }])).toMatchObject({
        timedOut: false,
        polls: [{ changed: true, cursorReset: true, latestAssistantMessage: { text: 'ok' } }],
      })
  })

  it('looks once with timeoutMs 0, and ends at the call budget with cursors to go on with', async () => {
    const { threadId, turnId, held } = await running('fifth job')
    const snapshot = await wait([{ threadId }], { timeoutMs: 0 })
    expect(snapshot).toMatchObject({
      timedOut: true,
      wake: null,
      polls: [{ latestTurn: { id: turnId, status: 'inProgress' } }],
    })
    const short = await startFamily(stage.world.socketPath, { callMs: 300 })
    const answer = await short.call('wait_threads', { targets: [{ threadId }], timeoutMs: 120_000 })
    expect(answer).toMatchObject({ timedOut: true, polls: [{ cursor: textAt(snapshot, 'polls.0.cursor') }] })
    await short.close()
    held.release()
  })

  it('wakes for a failure, and is not taken in by words alone', async () => {
    stage.world.model.when('fails', { status: 400, body: { error: { message: 'broken' } } })
    const threadId = await stage.threadWith('fails')
    expect(await wait([{ threadId }])).toMatchObject({
      wake: { reason: 'turnCompleted' },
      polls: [
        { latestTurn: { status: 'failed', error: { message: expect.stringContaining('broken') as string } } },
      ],
    })
  })

  it('tells which target cannot be waited for, and waits for the others', async () => {
    const threadId = await stage.threadWith('one')
    expect(await wait([{ threadId: UNKNOWN }, { threadId }])).toMatchObject({
      timedOut: false,
      polls: [{ thread: { id: threadId } }],
      errors: [{ threadId: UNKNOWN, message: expect.stringContaining(UNKNOWN) as string }],
    })
    expect(await wait([{ threadId: UNKNOWN }])).toMatchObject({ timedOut: false, wake: null, polls: [] })
  })

  it('says of a thread without a turn that it does nothing', async () => {
    const threadId = await stage.client.startThread({ cwd: stage.world.cwd })
    expect(await wait([{ threadId }])).toMatchObject({
      timedOut: false,
      wake: { reason: 'inactiveStatus', threadId },
      polls: [{ latestTurn: null, latestAssistantMessage: null }],
    })
  })

  it('wakes when a thread needs a person', async () => {
    const threadId = await stage.client.startThread({ cwd: stage.world.cwd, approvalPolicy: 'untrusted' })
    stage.world.model.when('ask me', {
      toolCall: { name: 'exec_command', arguments: { cmd: 'touch x' } },
    })
    await stage.client.startTurn(threadId, 'ask me')
    expect(await wait([{ threadId }])).toMatchObject({
      wake: { reason: 'actionableStatus', threadId },
      polls: [{ thread: { status: { activeFlags: ['waitingOnApproval'] } } }],
    })
  })

  it('refuses the same thread twice, the calling thread, none and more than 8', async () => {
    const threadId = await stage.threadWith('one')
    expect(await refusal(wait([{ threadId }, { threadId: threadId.toUpperCase() }]))).toMatchObject({
      code: 'invalid_arguments',
      field: 'targets.1.threadId',
    })
    expect(
      await refusal(
        stage.call(
          'wait_threads',
          { targets: [{ threadId }] },
          { caller: { threadId: threadId.toUpperCase() } },
        ),
      ),
    ).toMatchObject({ code: 'self_target', field: 'targets.0.threadId' })
    expect(await refusal(wait([]))).toMatchObject({ code: 'invalid_arguments', field: 'targets' })
    const nine = Array.from({ length: 9 }, (_, n) => ({ threadId: `${n}` }))
    expect(await refusal(wait(nine))).toMatchObject({ code: 'invalid_arguments', field: 'targets' })
    expect(await refusal(wait([{ threadId }], { timeoutMs: 120_001 }))).toMatchObject({ field: 'timeoutMs' })
  })

  it('ends at once when its client cancels, and leaves nothing behind', async () => {
    const { threadId, held } = await running('sixth job')
    const cancel = new AbortController()
    const waiting = stage.call('wait_threads', { targets: [{ threadId }] }, { signal: cancel.signal })
    waiting.catch(() => undefined)
    await stage.world.proxy.waitFor({ method: 'thread/turns/list', nth: 1 })
    cancel.abort()
    await expect(waiting).rejects.toBeDefined()
    held.release()
  })

  it('cuts a long message and says how long it was', async () => {
    stage.world.model.when('long', { text: 'z'.repeat(5_000) })
    const threadId = await stage.threadWith('long')
    expect(at(await wait([{ threadId }]), 'polls.0.latestAssistantMessage')).toMatchObject({
      text: 'z'.repeat(2_000),
      truncated: true,
      originalChars: 5_000,
    })
  })
})
