import { at, holdReply, poll, testedVersions, textAt } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startStage, threadIdOf, type Stage } from './family.ts'

describe.each(testedVersions)('titles, pins and archives on Codex %s', (version) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage(version)
  })
  afterAll(() => stage.close())

  const nameOf = async (threadId: string) =>
    at(await stage.client.call('thread/read', { threadId }), 'thread.name')

  it('sets a title, of the calling thread when none is named', async () => {
    const threadId = await stage.threadWith('a')
    expect(await stage.call('set_thread_title', { threadId, title: 'Named' })).toEqual({
      requestId: expect.any(String) as string,
      hostId: 'local',
      threadId,
      title: 'Named',
      status: 'accepted',
      next: 'none',
      replayed: false,
    })
    expect(await nameOf(threadId)).toBe('Named')
    await stage.call('set_thread_title', { title: 'By itself' }, { caller: { threadId } })
    expect(await nameOf(threadId)).toBe('By itself')
    await expect(stage.call('set_thread_title', { title: 'Whose?' })).rejects.toMatchObject({
      code: 'caller_unknown',
      field: 'threadId',
    })
  })

  it('archives and brings back; what is so already is a success', async () => {
    const threadId = await stage.threadWith('a')
    const set = (archived: boolean) => stage.call('set_thread_archived', { threadId, archived })
    const calls = () => [
      stage.world.proxy.sent('thread/archive').length,
      stage.world.proxy.sent('thread/unarchive').length,
    ]
    expect(await set(false)).toMatchObject({ status: 'accepted', archived: false, threadId })
    expect(calls()).toEqual([0, 0])
    expect(await set(true)).toMatchObject({ status: 'accepted', archived: true, threadId })
    expect(await set(true)).toMatchObject({ status: 'accepted', archived: true, threadId })
    expect(calls()).toEqual([1, 0])
    expect(await stage.call('send_message_to_thread', { threadId, prompt: 'hello?' })).toMatchObject({
      status: 'failed',
      error: { code: 'thread_archived', hint: expect.stringContaining('set_thread_archived') as string },
    })
    expect(await set(false)).toMatchObject({ status: 'accepted', archived: false })
    expect(await stage.call('send_message_to_thread', { threadId, prompt: 'hello?' })).toMatchObject({
      status: 'accepted',
    })
  })

  it('refuses to archive a running thread, and the calling one', async () => {
    const held = holdReply()
    stage.world.model.when('hold on', held)
    const threadId = await stage.threadWith('a')
    await stage.client.startTurn(threadId, 'hold on')
    await held.waitHeld()
    expect(await stage.call('set_thread_archived', { threadId, archived: true })).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'thread_busy', hint: expect.stringContaining('wait_threads') as string },
    })
    held.release()
    await expect(
      stage.call('set_thread_archived', { threadId, archived: true }, { caller: { threadId } }),
    ).rejects.toMatchObject({ code: 'self_target', field: 'threadId' })
  })

  it('pins once, and leaves another section alone when it unpins', async () => {
    const threadId = await stage.threadWith('a')
    const section = async () =>
      at(await stage.client.call('thread/read', { threadId }), 'thread.section.name')
    await stage.call('set_thread_pinned', { threadId, pinned: true })
    await stage.call('set_thread_pinned', { threadId, pinned: true })
    expect(stage.world.proxy.sent('thread/section/move')).toHaveLength(1)
    expect(await section()).toBe('Pinned')
    const other = await stage.client.call('threadSection/create', { name: 'Other' })
    await stage.client.call('thread/section/move', { threadId, sectionId: textAt(other, 'section.id') })
    await stage.call('set_thread_pinned', { threadId, pinned: false })
    expect(await section()).toBe('Other')
  })

  it('names an unknown thread as one', async () => {
    const threadId = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
    for (const [tool, args] of [
      ['set_thread_title', { threadId, title: 'x' }],
      ['set_thread_pinned', { threadId, pinned: true }],
      ['set_thread_archived', { threadId, archived: true }],
      ['fork_thread', { threadId }],
      ['send_message_to_thread', { threadId, prompt: 'x' }],
    ] as const)
      expect(await stage.call(tool, args).catch((error: unknown) => ({ error }))).toMatchObject({
        error: { code: 'unknown_thread' },
      })
  })

  it('finds out by reconciliation what a lost answer did', async () => {
    const threadId = await stage.threadWith('a')
    stage.world.proxy.on({ method: 'thread/name/set', kind: 'request' }, { cut: 'after' })
    const lost = await stage.call('set_thread_title', { threadId, title: 'Lost' })
    expect(lost).toMatchObject({ status: 'outcome_unknown', next: 'reconcile', threadId })
    const found = await stage.host.operations.reconcile(textAt(lost, 'requestId'))
    expect(found).toMatchObject({ status: 'accepted', next: 'none', title: 'Lost' })
  })

  it('forks the completed history, with the access of its source', async () => {
    const threadId = await stage.client.startThread({
      cwd: stage.world.cwd,
      permissions: ':workspace',
      sandbox: undefined,
    })
    await stage.client.runTurn(threadId, 'one')
    await stage.client.runTurn(threadId, 'two')
    const forked = await stage.call('fork_thread', { threadId })
    expect(forked).toMatchObject({
      status: 'accepted',
      sourceThreadId: threadId,
      environment: { type: 'same-directory' },
    })
    const fork = threadIdOf(forked)
    expect(fork).not.toBe(threadId)
    expect(await stage.client.transcript(fork)).toEqual(['one', 'ok', 'two', 'ok'])
    expect(
      at(await stage.host.operations.get(textAt(forked, 'requestId')), 'creation.activePermissionProfile.id'),
    ).toBe(':workspace')
    expect(await stage.call('send_message_to_thread', { threadId: fork, prompt: 'three' })).toMatchObject({
      status: 'accepted',
    })
    expect(await stage.client.transcript(threadId)).toEqual(['one', 'ok', 'two', 'ok'])
  })

  it('leaves a running turn out of the fork, also of the calling thread, and survives a crash of the server', async () => {
    const held = holdReply()
    stage.world.model.when('still running', held)
    const threadId = await stage.threadWith('one')
    await stage.client.startTurn(threadId, 'still running')
    await held.waitHeld()
    const fork = threadIdOf(await stage.call('fork_thread', {}, { caller: { threadId } }))
    expect(await stage.client.transcript(fork)).toEqual(['one', 'ok'])
    held.release()
    await stage.world.appServer.restart()
    expect(await stage.call('send_message_to_thread', { threadId: fork, prompt: 'go on' })).toMatchObject({
      status: 'accepted',
      delivery: { state: 'recorded', as: 'turn' },
    })
  })

  it('finds a fork whose answer was lost', async () => {
    const client = await stage.world.openClient()
    const threadId = await client.startThread({ cwd: stage.world.cwd })
    await client.runTurn(threadId, 'one')
    stage.world.proxy.on({ method: 'thread/fork', kind: 'request' }, { cut: 'after' })
    const lost = await stage.call('fork_thread', { threadId })
    expect(lost).toMatchObject({ status: 'outcome_unknown', sourceThreadId: threadId })
    // The App Server may still be at work on what it was sent.
    const found = await poll(
      async () => {
        const now = await stage.host.operations.reconcile(textAt(lost, 'requestId'))
        return now.reconciliation?.verdict === 'created' ? now : undefined
      },
      { what: 'the fork to be found', every: 50 },
    )
    expect(found).toMatchObject({ status: 'accepted', sourceThreadId: threadId })
    expect(at(await client.call('thread/read', { threadId: found.threadId }), 'thread.forkedFromId')).toBe(
      threadId,
    )
  })
})
