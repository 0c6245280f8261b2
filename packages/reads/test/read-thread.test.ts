import { at, listAt, testedVersions, textAt } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mutatingRequests, startBridge, startHost, threadWithTurns } from './bridge.ts'

const BUDGET = 65_536

describe.each(testedVersions)('read_thread on Codex %s', (version) => {
  let bridge: Awaited<ReturnType<typeof startBridge>>
  let threadId = ''

  beforeAll(async () => {
    bridge = await startBridge(version)
    bridge.world.model.when(/^turn (\d)/, ({ lastUserText }) => ({ text: `answer to ${lastUserText}` }))
    threadId = await threadWithTurns(bridge.client, bridge.world.cwd, [
      'turn 1',
      'turn 2',
      'turn 3',
      'turn 4',
      'turn 5',
    ])
  })
  afterAll(() => bridge.close())

  const read = (input: object) => bridge.host.call('read_thread', { thread_id: threadId, ...input })
  const size = (answer: unknown) => Buffer.byteLength(JSON.stringify(answer))
  const answers = (answer: unknown) =>
    listAt(answer, 'turnsPage.data').map((turn) => textAt(listAt(turn, 'items').at(-1), 'text'))

  it('returns the thread and its newest turns with all their items, as the App Server has them', async () => {
    expect(await read({})).toEqual({
      thread: at(await bridge.client.call('thread/read', { threadId }), 'thread'),
      turnsPage: await bridge.client.call('thread/turns/list', { threadId, limit: 10, itemsView: 'full' }),
    })
  })

  it('hands cursors out as they are, and they lead back to the first turn', async () => {
    const seen: string[] = []
    let cursor: unknown
    do {
      const page = { limit: 2, ...(typeof cursor === 'string' ? { cursor } : {}) }
      const answer = await read(page)
      const direct = await bridge.client.call('thread/turns/list', { threadId, itemsView: 'full', ...page })
      expect(at(answer, 'turnsPage')).toEqual(direct)
      seen.push(...answers(answer))
      cursor = at(answer, 'turnsPage.nextCursor')
    } while (typeof cursor === 'string')
    expect(seen).toEqual([5, 4, 3, 2, 1].map((number) => `answer to turn ${number}`))
  })

  it('answers a thread without a turn with an empty page', async () => {
    const empty = await bridge.client.startThread({ cwd: bridge.world.cwd })
    const expected = { thread: { id: empty }, turnsPage: { data: [], nextCursor: null } }
    expect(await read({ thread_id: empty })).toMatchObject(expected)
    // After this the App Server refuses its turns in other words.
    await bridge.client.call('thread/read', { threadId: empty, includeTurns: true }).catch(() => undefined)
    expect(await read({ thread_id: empty })).toMatchObject(expected)
  })

  it('shortens an item of 5 MB and says so, in a small answer', async () => {
    bridge.world.model.when('tell me everything', { text: 'e'.repeat(5_000_000) })
    const big = await threadWithTurns(bridge.client, bridge.world.cwd, ['tell me everything'])
    const answer = await read({ thread_id: big })
    expect(answer).toMatchObject({
      truncated: true,
      truncatedCount: 1,
      note: '1 text(s) are shortened to 4,000 characters.',
      turnsPage: {
        data: [
          {
            status: 'completed',
            items: [
              { type: 'userMessage' },
              { text: `${'e'.repeat(4_000)}\n[shortened: the original has 5,000,000 characters]` },
            ],
          },
        ],
      },
    })
    expect(size(answer)).toBeLessThan(8_000)
    expect(textAt(await read({ thread_id: big, max_text_chars: 100 }), 'turnsPage.data.0.items.1.text')).toBe(
      `${'e'.repeat(100)}\n[shortened: the original has 5,000,000 characters]`,
    )
  })

  it('leaves out the oldest items of an answer that would be too large', async () => {
    bridge.world.model.when(/^long (\d+)/, ({ lastUserText }) => ({
      text: `${lastUserText} ${'漢'.repeat(3_000)}`,
    }))
    const texts = Array.from({ length: 12 }, (_, n) => `long ${n}`)
    const long = await threadWithTurns(bridge.client, bridge.world.cwd, texts)
    const answer = await read({ thread_id: long, limit: 12 })
    expect(size(answer)).toBeLessThanOrEqual(BUDGET)
    expect(at(answer, 'truncated')).toBe(true)
    expect(textAt(answer, 'note')).toMatch(/^\d+ item\(s\) are left out so that the answer fits/)
    const turns = listAt(answer, 'turnsPage.data')
    expect(turns.length).toBe(12)
    expect(textAt(turns[0], 'items.1.text')).toMatch(/^long 11 漢+$/)
    expect(at(turns[11], 'items.1')).toEqual({
      id: expect.any(String) as string,
      type: 'agentMessage',
      omitted: true,
    })
    expect(
      textAt(
        await read({ thread_id: long, limit: 12, max_text_chars: 100 }),
        'turnsPage.data.11.items.1.text',
      ),
    ).toBe(`long 0 ${'漢'.repeat(93)}\n[shortened: the original has 3,007 characters]`)
  })

  it('asks for fewer turns when they do not fit even without their items', async () => {
    const host = await startHost(bridge.world.socketPath, { resultBytes: 2_400 })
    const answer = await host
      .call('read_thread', { thread_id: threadId, limit: 100 })
      .finally(() => host.close())
    expect(size(answer)).toBeLessThanOrEqual(2_400)
    expect(textAt(answer, 'note')).toMatch(/At most \d rows instead of 100/)
    const shown = listAt(answer, 'turnsPage.data').length
    const direct = await bridge.client.call('thread/turns/list', { threadId, limit: shown })
    expect(at(answer, 'turnsPage.nextCursor')).toEqual(at(direct, 'nextCursor'))
  })

  it('says that a thread is unknown, and that a cursor is none', async () => {
    const unknown = read({ thread_id: '01900000-0000-7000-8000-000000000000' })
    await expect(unknown).rejects.toMatchObject({
      code: 'unknown_thread',
      field: 'thread_id',
      next: 'fix_call',
    })
    await expect(read({ thread_id: 'no id' })).rejects.toMatchObject({ code: 'unknown_thread' })
    await expect(read({ cursor: 'none of yours' })).rejects.toMatchObject({ code: 'invalid_cursor' })
  })

  it('has changed nothing on the server', () => {
    expect(mutatingRequests(bridge.world)).toEqual([])
  })
})
