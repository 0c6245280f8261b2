import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  at,
  createRepository,
  holdReply,
  listAt,
  poll,
  type Repository,
  testedVersions,
  textAt,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { refusal, startFamily, startStage, type Family, type Stage } from './family.ts'

describe.each(testedVersions)('handoff_thread on Codex %s', (version) => {
  let stage: Stage
  let family: Family
  let repository: Repository

  beforeAll(async () => {
    stage = await startStage(version)
  })
  beforeEach(async () => {
    repository = await createRepository({
      files: [
        { path: 'kept.txt', content: 'kept\n' },
        { path: 'changed.txt', content: 'old\n' },
        { path: 'deleted.txt', content: 'old\n' },
        { path: 'sub/in.txt', content: 'old\n' },
      ],
    })
    family = await startFamily(stage.world.socketPath)
  })
  afterEach(async () => {
    stage.world.proxy.clear()
    await family.close()
    await repository.remove()
  })
  afterAll(() => stage.close())

  const status = (cwd: string) => repository.git(['status', '--porcelain', '--untracked-files=all'], cwd)
  const diff = (cwd: string) => repository.git(['diff', '--binary', 'HEAD'], cwd)
  const threadRead = async (threadId: string) =>
    at(await stage.client.call('thread/read', { threadId }), 'thread')

  const work = async (root: string) => {
    await writeFile(join(root, 'changed.txt'), 'staged\n')
    await repository.git(['add', 'changed.txt'], root)
    await writeFile(join(root, 'changed.txt'), 'staged and more\n')
    await repository.git(['rm', '--quiet', 'deleted.txt'], root)
    await mkdir(join(root, 'new'))
    await writeFile(join(root, 'new/file.txt'), 'new\n')
  }
  const threadIn = async (cwd: string) => {
    const threadId = await stage.client.startThread({ cwd, permissions: ':workspace', sandbox: undefined })
    await stage.client.runTurn(threadId, 'work here')
    await stage.client.call('thread/name/set', { threadId, name: 'The work' })
    return threadId
  }
  const finished = async (operationId: string, of = family) => {
    let answer = await of.call('get_handoff_status', { operationId })
    while (at(answer, 'status') === 'running')
      answer = await of.call('get_handoff_status', {
        operationId,
        afterRevision: at(answer, 'revision'),
        waitMs: 20_000,
      })
    return answer
  }
  const handOff = async (threadId: string, more: object = {}) => {
    const begun = await family.call('handoff_thread', { threadId, ...more })
    expect(begun).toMatchObject({ revision: expect.any(Number) as number })
    const operationId = textAt(begun, 'operationId')
    expect(operationId).toBe(textAt(begun, 'requestId'))
    return finished(operationId)
  }

  it('moves a thread with its work into a worktree, and back', async () => {
    await work(repository.root)
    const [before, changes] = [await status(repository.root), await diff(repository.root)]
    const threadId = await threadIn(join(repository.root, 'sub'))
    const there = await handOff(threadId, { followUpPrompt: 'Go on there.' })
    expect(there).toMatchObject({
      status: 'success',
      direction: 'local-to-worktree',
      workIn: 'destination',
      sourceThreadId: threadId,
      source: repository.root,
      completedAt: expect.any(Number) as number,
    })
    const worktree = textAt(there, 'destination')
    expect(worktree.startsWith(join(family.stateDir, 'worktrees'))).toBe(true)
    expect([await status(worktree), await diff(worktree)]).toEqual([before, changes])
    expect(await status(repository.root)).toBe('')
    const moved = textAt(there, 'threadId')
    expect(await threadRead(moved)).toMatchObject({
      cwd: join(worktree, 'sub'),
      name: 'The work',
      forkedFromId: threadId,
    })
    expect(textAt(await threadRead(threadId), 'path')).toContain('archived_sessions')
    expect((await stage.client.transcript(moved)).slice(0, 3)).toEqual(['work here', 'ok', 'Go on there.'])
    expect(listAt(there, 'steps').map((step) => at(step, 'status'))).not.toContain('failed')

    await family.call('wait_threads', { targets: [{ threadId: moved }] })
    await writeFile(join(worktree, 'kept.txt'), 'changed in the worktree\n')
    const later = [await status(worktree), await diff(worktree)]
    const back = await handOff(moved)
    expect(back).toMatchObject({
      status: 'success',
      direction: 'worktree-to-local',
      destination: repository.root,
      source: worktree,
    })
    expect([await status(repository.root), await diff(repository.root)]).toEqual(later)
    expect(await status(worktree)).toBe('')
    expect(await threadRead(textAt(back, 'threadId'))).toMatchObject({ cwd: join(repository.root, 'sub') })
  })

  it('brings commits of the worktree along, on the checkout’s own branch', async () => {
    const threadId = await threadIn(repository.root)
    const there = await handOff(threadId)
    const worktree = textAt(there, 'destination')
    await writeFile(join(worktree, 'kept.txt'), 'committed\n')
    await repository.git(['commit', '--quiet', '-am', 'In the worktree'], worktree)
    const head = await repository.git(['rev-parse', 'HEAD'], worktree)
    expect(await handOff(textAt(there, 'threadId'))).toMatchObject({ status: 'success' })
    expect(await repository.git(['rev-parse', 'HEAD'])).toBe(head)
    expect(await repository.git(['symbolic-ref', 'HEAD'])).toBe('refs/heads/main')
    expect(await status(repository.root)).toBe('')
  })

  it('refuses a checkout with work of its own, and leaves both sides as they are', async () => {
    const threadId = await threadIn(repository.root)
    const there = await handOff(threadId)
    const [moved, worktree] = [textAt(there, 'threadId'), textAt(there, 'destination')]
    await work(worktree)
    await writeFile(join(repository.root, 'own.txt'), 'mine\n')
    const before = [await status(worktree), await status(repository.root)]
    expect(await handOff(moved)).toMatchObject({
      status: 'error',
      workIn: 'source',
      threadId: moved,
      message: expect.stringContaining('own.txt') as string,
    })
    expect([await status(worktree), await status(repository.root)]).toEqual(before)
    await repository.git(['add', 'own.txt'])
    await repository.git(['commit', '--quiet', '-m', 'Mine'])
    await repository.git(['commit', '--quiet', '--allow-empty', '-m', 'Theirs'], worktree)
    expect(await handOff(moved)).toMatchObject({
      status: 'error',
      message: expect.stringContaining('is not part of the history') as string,
    })
    expect(textAt(await threadRead(moved), 'path')).not.toContain('archived_sessions')
  })

  it('refuses a running thread, the calling one, one in no repository, a pending one and another host', async () => {
    const held = holdReply()
    stage.world.model.when('hold on', held)
    const threadId = await threadIn(repository.root)
    await stage.client.startTurn(threadId, 'hold on')
    await held.waitHeld()
    expect(await handOff(threadId)).toMatchObject({
      status: 'error',
      message: expect.stringContaining('running turn') as string,
    })
    held.release()
    expect(
      await refusal(family.call('handoff_thread', { threadId }, { caller: { threadId } })),
    ).toMatchObject({
      code: 'self_target',
      field: 'threadId',
    })
    const outside = await stage.threadWith('x')
    expect(await refusal(family.call('handoff_thread', { threadId: outside }))).toMatchObject({
      code: 'invalid_source_repository',
    })
    expect(
      await refusal(family.call('handoff_thread', { threadId, destinationHostId: 'remote' })),
    ).toMatchObject({
      code: 'unsupported_target',
      field: 'destinationHostId',
    })
    expect(await refusal(family.call('handoff_thread', { threadId: 'client-nothing' }))).toMatchObject({
      code: 'unknown_thread',
    })
    expect(await refusal(family.call('get_handoff_status', { operationId: 'nothing' }))).toMatchObject({
      code: 'unknown_request',
    })
  })

  it('answers at once, tells how far it is, and refuses a second one meanwhile', async () => {
    const threadId = await threadIn(repository.root)
    const rule = stage.world.proxy.on({ method: 'thread/fork', kind: 'request' }, 'delay')
    const begun = await family.call('handoff_thread', { threadId })
    expect(begun).toMatchObject({ execution: 'running' })
    const operationId = textAt(begun, 'operationId')
    await rule.waitFired()
    const running = await family.call('get_handoff_status', { operationId })
    expect(running).toMatchObject({ status: 'running', workIn: 'source', completedAt: null })
    expect(listAt(running, 'steps').at(-1)).toMatchObject({
      label: 'Continue the thread there',
      status: 'running',
    })
    expect(await family.call('handoff_thread', { threadId })).toMatchObject({
      status: 'failed',
      error: { code: 'handoff_running', message: expect.stringContaining(operationId) as string },
    })
    rule.remove()
    expect(await finished(operationId)).toMatchObject({ status: 'success' })
  })

  it('undoes what it cannot finish', async () => {
    await work(repository.root)
    const before = await status(repository.root)
    const threadId = await threadIn(repository.root)
    const refuse = { respond: { error: { code: -32600, message: 'not now' } } } as const
    stage.world.proxy.on({ method: 'thread/archive', kind: 'request' }, refuse)
    expect(await handOff(threadId)).toMatchObject({
      status: 'error',
      threadId,
      workIn: 'source',
      message: expect.stringContaining('It was undone') as string,
    })
    expect(await status(repository.root)).toBe(before)
    const there = await handOff(threadId)
    const [moved, worktree] = [textAt(there, 'threadId'), textAt(there, 'destination')]
    stage.world.proxy.on({ method: 'thread/fork', kind: 'request' }, refuse)
    expect(await handOff(moved)).toMatchObject({ status: 'error', workIn: 'source', threadId: moved })
    expect(await status(repository.root)).toBe('')
    expect(await status(worktree)).toBe(before)
    expect(await handOff(moved)).toMatchObject({ status: 'success' })
    expect(await status(repository.root)).toBe(before)
  })

  it('keeps what changed in the source meanwhile, and says so', async () => {
    await work(repository.root)
    const threadId = await threadIn(repository.root)
    const rule = stage.world.proxy.on({ method: 'thread/archive', kind: 'request' }, 'delay')
    const begun = await family.call('handoff_thread', { threadId })
    await rule.waitFired()
    await writeFile(join(repository.root, 'new/file.txt'), 'changed meanwhile\n')
    rule.remove()
    const answer = await finished(textAt(begun, 'operationId'))
    expect(answer).toMatchObject({
      status: 'warning',
      workIn: 'destination',
      message: expect.stringContaining('new/file.txt') as string,
    })
    expect(await status(repository.root)).toContain('new/file.txt')
  })

  it('sends the follow-up once, also when its answer is lost', async () => {
    const threadId = await threadIn(repository.root)
    stage.world.proxy.on({ method: 'turn/start', kind: 'request' }, { cut: 'after' })
    const answer = await handOff(threadId, { followUpPrompt: 'Only once.' })
    expect(answer).toMatchObject({ workIn: 'destination' })
    const moved = textAt(answer, 'threadId')
    const settled = await poll(async () => {
      const found = await family.call('get_handoff_status', { operationId: textAt(answer, 'operationId') })
      return at(found, 'status') === 'success' && found
    })
    expect(settled).toMatchObject({ threadId: moved })
    const said = await stage.client.transcript(moved)
    expect(said.filter((text) => text === 'Only once.')).toHaveLength(1)
  })

  it('forks into a worktree of its own, with the uncommitted changes', async () => {
    await work(repository.root)
    const before = await status(repository.root)
    const threadId = await threadIn(repository.root)
    const answer = await family.call('fork_thread', { threadId, environment: { type: 'worktree' } })
    expect(answer).toMatchObject({
      status: 'accepted',
      sourceThreadId: threadId,
      environment: { type: 'worktree' },
    })
    const cwd = textAt(await threadRead(textAt(answer, 'threadId')), 'cwd')
    expect(cwd.startsWith(join(family.stateDir, 'worktrees'))).toBe(true)
    expect(await status(cwd)).toBe(before)
    expect(await status(repository.root)).toBe(before)
  })
})
