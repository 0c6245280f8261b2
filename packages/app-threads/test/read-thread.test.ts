import { at, listAt, testedVersions, textAt } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFamily, startStage, type Stage } from './family.ts'

describe.each(testedVersions)('read_thread on Codex %s', (version) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage(version)
  })
  afterAll(() => stage.close())

  const command = (text: string) => ({
    toolCall: { name: 'exec_command', arguments: { cmd: text } },
  })

  it('shows the newest turn, and older ones behind the cursor', async () => {
    const threadId = await stage.threadWith('first', 'second')
    await stage.call('set_thread_title', { threadId, title: 'Two turns' })
    const newest = await stage.call('read_thread', { threadId })
    expect(newest).toMatchObject({
      schemaVersion: 1,
      thread: {
        id: threadId,
        kind: 'codex',
        hostId: 'local',
        title: 'Two turns',
        preview: 'first',
        status: { type: 'idle' },
        cwd: stage.world.cwd,
        createdAt: expect.any(Number) as number,
        updatedAt: expect.any(Number) as number,
      },
      page: { order: 'newest_first', limit: 1, hasMore: true },
      turns: [
        {
          status: 'completed',
          error: null,
          startedAt: expect.any(Number) as number,
          completedAt: expect.any(Number) as number,
          durationMs: expect.any(Number) as number,
          omittedItems: 0,
          items: [
            { type: 'userMessage', content: [{ type: 'text', text: 'second' }] },
            { type: 'agentMessage', text: 'ok' },
          ],
        },
      ],
    })
    const cursor = textAt(newest, 'page.nextCursor')
    expect(cursor).toMatch(/^p[\w-]+$/)
    const older = await stage.call('read_thread', { threadId, cursor, turnLimit: 10 })
    expect(older).toMatchObject({
      page: { nextCursor: null, hasMore: false },
      turns: [{ items: [{ content: [{ text: 'first' }] }, { text: 'ok' }] }],
    })
    await expect(stage.call('read_thread', { threadId, cursor: '{"a":1}' })).rejects.toMatchObject({
      code: 'invalid_cursor',
    })
  })

  it('shows outputs only when asked, within the limit of an item', async () => {
    stage.world.model.when('run it', command('printf %05000d 7'), { text: 'done' })
    const threadId = await stage.threadWith('run it')
    const items = async (args: object) =>
      listAt(await stage.call('read_thread', { threadId, ...args }), 'turns.0.items')
    const commandIn = (shown: readonly unknown[]) =>
      shown.find((item) => at(item, 'type') === 'commandExecution')
    const without = commandIn(await items({}))
    expect(without).toMatchObject({ status: 'completed', exitCode: 0, cwd: stage.world.cwd })
    expect(at(without, 'output')).toBeUndefined()
    expect(commandIn(await items({ includeOutputs: true }))).toMatchObject({
      output: { text: '0'.repeat(2_000), truncated: true, originalChars: 5_000 },
    })
    expect(commandIn(await items({ includeOutputs: true, maxOutputCharsPerItem: 0 }))).toMatchObject({
      output: { text: '', truncated: true, originalChars: 5_000 },
    })
    expect(commandIn(await items({ includeOutputs: true, maxOutputCharsPerItem: 20_000 }))).toMatchObject({
      output: { text: `${'0'.repeat(4_999)}7`, truncated: false, originalChars: 5_000 },
    })
  })

  it('keeps to the newest 20 items of a turn and counts the others', async () => {
    stage.world.model.when('many', { items: Array.from({ length: 25 }, (_, n) => ({ text: `m${n}` })) })
    const threadId = await stage.threadWith('many')
    const answer = await stage.call('read_thread', { threadId })
    const texts = listAt(answer, 'turns.0.items').map((item) => at(item, 'text'))
    expect(texts).toEqual(Array.from({ length: 20 }, (_, n) => `m${n + 5}`))
    expect(at(answer, 'turns.0.omittedItems')).toBe(6)
  })

  it('stays within the result budget whatever it reads, and says what it left out', async () => {
    stage.world.model.when('much', { text: 'y'.repeat(300_000) })
    const threadId = await stage.threadWith('much', 'much', 'much')
    const answer = await stage.call('read_thread', { threadId, turnLimit: 10 })
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(65_536)
    expect(listAt(answer, 'turns')).toHaveLength(3)
    const small = await startFamily(stage.world.socketPath, { resultBytes: 4_096 })
    const short = await small.call('read_thread', { threadId, turnLimit: 10 })
    await small.close()
    expect(Buffer.byteLength(JSON.stringify(short))).toBeLessThanOrEqual(4_096)
    expect(at(short, 'note')).toMatch(/^So that the answer fits/)
  })

  it('changes nothing: no resume, no subscription', async () => {
    const threadId = await stage.threadWith('quiet')
    const before = stage.world.proxy.log.length
    await stage.call('read_thread', { threadId, turnLimit: 10, includeOutputs: true })
    const methods = stage.world.proxy.log
      .slice(before)
      .filter(({ direction, kind }) => direction === 'to-server' && kind === 'request')
      .map(({ method }) => method)
    expect(methods).toEqual(['thread/read', 'thread/turns/list'])
  })

  it('shows a thread without a turn as empty, a failed turn with its error, and no unknown thread', async () => {
    const empty = await stage.client.startThread({ cwd: stage.world.cwd })
    expect(await stage.call('read_thread', { threadId: empty })).toMatchObject({
      turns: [],
      page: { hasMore: false },
    })
    stage.world.model.when('fail', { status: 400, body: { error: { message: 'no such model' } } })
    const failed = await stage.threadWith('fail')
    expect(await stage.call('read_thread', { threadId: failed })).toMatchObject({
      turns: [{ status: 'failed', error: { message: expect.stringContaining('no such model') as string } }],
    })
    await expect(
      stage.call('read_thread', { threadId: '01a22d6c-ee00-7d30-84f1-a4cd16c32862' }),
    ).rejects.toMatchObject({ code: 'unknown_thread', field: 'threadId' })
  })
})
