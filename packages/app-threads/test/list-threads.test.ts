import { at, listAt, tempDir, testedVersions, textAt } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFamily, startStage, type Stage } from './family.ts'

const ids = (answer: unknown, list = 'threads') => listAt(answer, list).map((thread) => textAt(thread, 'id'))

describe.each(testedVersions)('list_threads and list_projects on Codex %s', (version) => {
  let stage: Stage
  const elsewhere = tempDir('wd')
  /** Newest first. */
  const threads: string[] = []

  beforeAll(async () => {
    stage = await startStage(version)
    for (const text of ['one', 'two', 'three', 'four']) threads.unshift(await stage.threadWith(text))
  })
  afterAll(async () => {
    await stage.close()
    await elsewhere.remove()
  })

  it('shows each thread in short, by recency', async () => {
    const answer = await stage.call('list_threads')
    expect(ids(answer)).toEqual(threads)
    expect(answer).toMatchObject({ schemaVersion: 1, pinnedThreads: [], nextCursor: null })
    expect(listAt(answer, 'threads')[0]).toEqual({
      id: threads[0],
      kind: 'codex',
      projectId: null,
      hostId: 'local',
      status: 'idle',
      cwd: stage.world.cwd,
      updatedAt: expect.any(Number) as number,
      title: 'four',
      summary: 'four',
    })
  })

  it('shows pinned threads first and whole, in their order, and the others page by page without them', async () => {
    const [newest = '', , third = ''] = threads
    for (const threadId of [third, newest])
      expect(await stage.call('set_thread_pinned', { threadId, pinned: true })).toMatchObject({
        threadId,
        pinned: true,
        status: 'accepted',
        requestId: expect.any(String) as string,
      })
    const first = await stage.call('list_threads', { limit: 1 })
    expect(ids(first, 'pinnedThreads')).toEqual([third, newest])
    expect(listAt(first, 'pinnedThreads').map((thread) => at(thread, 'pinnedIndex'))).toEqual([1, 2])
    expect(ids(first)).toEqual([threads[1]])
    const cursor = textAt(first, 'nextCursor')
    expect(cursor).toMatch(/^l[\w-]+$/)
    const second = await stage.call('list_threads', { limit: 5, cursor })
    expect(ids(second, 'pinnedThreads')).toEqual([])
    expect(ids(second)).toEqual([threads[3]])
    expect(at(second, 'nextCursor')).toBe(null)
    for (const threadId of [third, newest, third])
      await stage.call('set_thread_pinned', { threadId, pinned: false })
    expect(ids(await stage.call('list_threads'), 'pinnedThreads')).toEqual([])
  })

  it('finds threads by their title and keeps to one directory', async () => {
    expect(ids(await stage.call('list_threads', { query: 'thre' }))).toEqual([threads[1]])
    expect(ids(await stage.call('list_threads', { query: 'nothing like it' }))).toEqual([])
    const there = await stage.client.startThread({ cwd: elsewhere.path })
    await stage.client.runTurn(there, 'elsewhere')
    expect(ids(await stage.call('list_threads', { cwd: elsewhere.path }))).toEqual([there])
    expect(ids(await stage.call('list_threads', { cwd: stage.world.cwd }))).toEqual(threads)
  })

  it('adds archived threads after the others when it is asked to', async () => {
    const archived = await stage.threadWith('away')
    await stage.call('set_thread_archived', { threadId: archived, archived: true })
    const cwd = stage.world.cwd
    const first = await stage.call('list_threads', { cwd, includeArchived: true })
    expect(ids(first)).toEqual(threads)
    const second = await stage.call('list_threads', {
      cwd,
      includeArchived: true,
      cursor: textAt(first, 'nextCursor'),
    })
    expect(listAt(second, 'threads')).toMatchObject([{ id: archived, archived: true }])
    expect(at(second, 'nextCursor')).toBe(null)
  })

  it.each([['none of yours'], ['{"at":1}'], ['o' + Buffer.from('{}').toString('base64url')]])(
    'refuses the foreign cursor %s',
    async (cursor) => {
      await expect(stage.call('list_threads', { cursor })).rejects.toMatchObject({
        code: 'invalid_cursor',
        field: 'cursor',
      })
    },
  )

  it('stays within the result budget with fewer rows, and loses none', async () => {
    const small = await startFamily(stage.world.socketPath, { resultBytes: 4_096 })
    for (let count = 0; count < 3; count += 1)
      threads.unshift(await stage.threadWith('x'.repeat(2_000) + count))
    const seen: string[] = []
    let cursor: unknown
    do {
      const answer = await small.call('list_threads', {
        cwd: stage.world.cwd,
        limit: 50,
        ...(typeof cursor === 'string' ? { cursor } : {}),
      })
      expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(4_096)
      for (const thread of listAt(answer, 'threads'))
        expect(textAt(thread, 'summary').length).toBeLessThanOrEqual(300)
      seen.push(...ids(answer))
      cursor = at(answer, 'nextCursor')
    } while (typeof cursor === 'string')
    await small.close()
    expect(seen).toEqual(threads)
  })

  it('lists the App Server’s projects and the operator’s, one project a directory, and says how to add one', async () => {
    expect(await stage.call('list_projects')).toEqual({
      projects: [],
      hint: expect.stringContaining('--project') as string,
    })
    const project = await stage.client.call('project/create', {
      name: 'Recorded',
      roots: [{ path: stage.world.cwd }],
      idempotencyKey: 'recorded',
    })
    const operators = await startFamily(stage.world.socketPath, {
      projects: [elsewhere.path, stage.world.cwd],
    })
    const answer = await operators.call('list_projects')
    const common = { projectKind: 'local', hostId: 'local', isGitRepository: false }
    expect(answer).toEqual({
      projects: [
        { projectId: textAt(project, 'project.id'), label: 'Recorded', path: stage.world.cwd, ...common },
        {
          projectId: expect.stringMatching(/^path-[0-9a-f]{16}$/) as string,
          label: elsewhere.path.split('/').at(-1),
          path: elsewhere.path,
          ...common,
        },
      ],
    })
    expect(await operators.call('list_projects')).toEqual(answer)
    expect(at(await operators.call('list_threads', { cwd: elsewhere.path }), 'threads.0.projectId')).toBe(
      at(answer, 'projects.1.projectId'),
    )
    await operators.close()
  })
})
