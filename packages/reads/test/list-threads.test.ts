import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { at, listAt, tempDir, testedVersions, textAt } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mutatingRequests, startBridge, startHost, threadWithTurns } from './bridge.ts'

describe.each(testedVersions)('list_threads on Codex %s', (version) => {
  let bridge: Awaited<ReturnType<typeof startBridge>>
  const other = tempDir('wd')
  const threads: string[] = []

  beforeAll(async () => {
    bridge = await startBridge(version)
    for (const text of ['one', 'two', 'three'])
      threads.unshift(await threadWithTurns(bridge.client, bridge.world.cwd, [text]))
    threads.unshift(await threadWithTurns(bridge.client, other.path, ['elsewhere']))
  })
  afterAll(async () => {
    await bridge.close()
    await other.remove()
  })

  const list = (input: object = {}) => bridge.host.call('list_threads', input)
  const ids = (answer: unknown) => listAt(answer, 'data').map((thread) => textAt(thread, 'id'))

  it('returns the App Server’s own page, newest first', async () => {
    const answer = await list()
    expect(ids(answer)).toEqual(threads)
    expect(answer).toEqual(await bridge.client.call('thread/list', { useStateDbOnly: true, limit: 20 }))
  })

  it('hands cursors out as they are, and they lead through all threads', async () => {
    const seen: string[] = []
    let cursor: unknown
    do {
      const input = { limit: 2, ...(typeof cursor === 'string' ? { cursor } : {}) }
      const answer = await list(input)
      const direct = await bridge.client.call('thread/list', { useStateDbOnly: true, ...input })
      expect(at(answer, 'nextCursor')).toEqual(at(direct, 'nextCursor'))
      expect(at(answer, 'backwardsCursor')).toEqual(at(direct, 'backwardsCursor'))
      seen.push(...ids(answer))
      cursor = at(answer, 'nextCursor')
    } while (typeof cursor === 'string')
    expect(new Set(seen)).toEqual(new Set(threads))
    expect(ids(await list({ cursor: '', limit: 1 }))).toEqual(threads.slice(0, 1))
  })

  it('asks for fewer rows rather than be too large, and loses none', async () => {
    const host = await startHost(bridge.world.socketPath, { resultBytes: 3_500 })
    const seen: string[] = []
    let cursor: unknown
    do {
      const answer = await host.call('list_threads', {
        limit: 100,
        ...(typeof cursor === 'string' ? { cursor } : {}),
      })
      expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(3_500)
      seen.push(...ids(answer))
      cursor = at(answer, 'nextCursor')
      if (seen.length < threads.length)
        expect(answer).toMatchObject({
          truncated: true,
          note: expect.stringMatching(/^At most [123] rows instead of 100/) as string,
        })
    } while (typeof cursor === 'string')
    await host.close()
    expect(seen).toEqual(threads)
  })

  it('keeps to one directory, by its real path', async () => {
    expect(ids(await list({ cwd: other.path }))).toEqual(threads.slice(0, 1))
    const link = join(bridge.world.cwd, 'link')
    await symlink(other.path, link)
    expect(ids(await list({ cwd: link }))).toEqual(threads.slice(0, 1))
    await rm(link)
    expect(ids(await list({ cwd: bridge.world.cwd }))).toEqual(threads.slice(1))
  })

  it.each([
    ['is relative', 'src'],
    ['does not exist', '/no/such/directory'],
    ['is a file', '/etc/hostname'],
  ])('refuses a cwd that %s', async (_, cwd) => {
    await expect(list({ cwd })).rejects.toMatchObject({ code: 'invalid_cwd', field: 'cwd', next: 'fix_call' })
  })

  it('refuses a cursor that is none, and one that a client has parsed', async () => {
    await expect(list({ cursor: 'none of yours' })).rejects.toMatchObject({ code: 'invalid_cursor' })
    await expect(list({ cursor: { timestamp: 1 } })).rejects.toMatchObject({
      code: 'invalid_arguments',
      field: 'cursor',
    })
  })

  it('does not show a thread without a turn', async () => {
    const empty = await bridge.client.startThread({ cwd: bridge.world.cwd })
    expect(ids(await list())).not.toContain(empty)
  })

  it('shortens a long preview and says so', async () => {
    const threadId = await threadWithTurns(bridge.client, bridge.world.cwd, ['p'.repeat(30_000)])
    const full = textAt(
      await bridge.client.call('thread/list', { useStateDbOnly: true, limit: 1 }),
      'data.0.preview',
    )
    const answer = await list({ limit: 1 })
    expect(ids(answer)).toEqual([threadId])
    if (full.length <= 4_000) expect(at(answer, 'data.0.preview')).toBe(full)
    else
      expect(answer).toMatchObject({
        truncated: true,
        truncatedCount: 1,
        note: '1 text(s) are shortened to 4,000 characters.',
        data: [
          {
            preview: `${'p'.repeat(4_000)}\n[shortened: the original has ${full.length.toLocaleString('en-US')} characters]`,
          },
        ],
      })
  })

  it('has changed nothing on the server', () => {
    expect(mutatingRequests(bridge.world)).toEqual([])
  })
})
