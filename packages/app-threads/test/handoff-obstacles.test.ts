import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  at,
  createRepository,
  NEWEST_CODEX,
  type Repository,
  textAt,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFamily, startStage, type Family, type Stage } from './family.ts'

describe('a checkout that cannot be handed off, or not cleaned', () => {
  let stage: Stage
  let family: Family
  let repository: Repository

  beforeAll(async () => {
    stage = await startStage(NEWEST_CODEX)
  })
  beforeEach(async () => {
    repository = await createRepository({ files: [{ path: 'changed.txt', content: 'old\n' }] })
    family = await startFamily(stage.world.socketPath)
  })
  afterEach(async () => {
    stage.world.proxy.clear()
    await family.close()
    await repository.remove()
  })
  afterAll(() => stage.close())

  const status = (cwd: string) => repository.git(['status', '--porcelain', '--untracked-files=all'], cwd)
  const work = async () => {
    await writeFile(join(repository.root, 'changed.txt'), 'new\n')
    await writeFile(join(repository.root, 'untracked.txt'), 'new\n')
  }
  const threadIn = async (cwd: string) => {
    const threadId = await stage.client.startThread({ cwd, permissions: ':workspace', sandbox: undefined })
    await stage.client.runTurn(threadId, 'work here')
    return threadId
  }
  const finished = async (operationId: string) => {
    let answer = await family.call('get_handoff_status', { operationId })
    while (at(answer, 'status') === 'running')
      answer = await family.call('get_handoff_status', {
        operationId,
        afterRevision: at(answer, 'revision'),
        waitMs: 20_000,
      })
    return answer
  }
  const handOff = async (threadId: string) =>
    finished(textAt(await family.call('handoff_thread', { threadId }), 'operationId'))

  it('refuses a checkout with a changed submodule before anything is made', async () => {
    const inner = await createRepository({ files: [{ path: 'file.txt', content: 'old\n' }] })
    const add = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.root, 'module']
    await repository.git(add)
    await repository.git(['commit', '--quiet', '-m', 'Add a submodule'])
    await inner.remove()
    await writeFile(join(repository.root, 'module/file.txt'), 'new\n')
    const threadId = await threadIn(repository.root)
    expect(await handOff(threadId)).toMatchObject({
      status: 'error',
      threadId,
      steps: [],
      message: 'module is a submodule with changes, which cannot be carried.',
    })
    const forked = await family.call('fork_thread', { threadId, environment: { type: 'worktree' } })
    expect(forked).toMatchObject({ status: 'failed', error: { code: 'uncarried_changes' } })
    expect(await repository.git(['worktree', 'list'])).not.toContain(family.stateDir)
  })

  it('refuses a checkout whose index is locked, before anything is made', async () => {
    await work()
    const threadId = await threadIn(repository.root)
    const lock = join(repository.root, '.git/index.lock')
    await writeFile(lock, '')
    expect(await handOff(threadId)).toMatchObject({
      status: 'error',
      threadId,
      steps: [],
      message: `The index of ${repository.root} is locked by ${lock}; nothing was done.`,
    })
    await rm(lock)
    expect(await handOff(threadId)).toMatchObject({ status: 'success' })
  })

  it('finishes one that was cut off, also after a try that was refused', async () => {
    await work()
    const before = await status(repository.root)
    const threadId = await threadIn(repository.root)
    stage.world.proxy.on({ method: 'thread/archive', kind: 'request' }, { cut: 'after' })
    expect(await handOff(threadId)).toMatchObject({ status: 'error', workIn: 'source' })
    stage.world.proxy.clear()
    const lock = join(repository.root, '.git/index.lock')
    await writeFile(lock, '')
    expect(await handOff(threadId)).toMatchObject({ status: 'error', steps: [] })
    await rm(lock)
    const done = await handOff(threadId)
    expect(done).toMatchObject({ status: 'success', workIn: 'destination' })
    expect(await status(textAt(done, 'destination'))).toBe(before)
    expect(await status(repository.root)).toBe('')
  })

  it('says which command failed, and what is left to do, when the source cannot be cleaned', async () => {
    await work()
    const before = await status(repository.root)
    const threadId = await threadIn(repository.root)
    const rule = stage.world.proxy.on({ method: 'thread/archive', kind: 'request' }, 'delay')
    const begun = await family.call('handoff_thread', { threadId })
    await rule.waitFired()
    await writeFile(join(repository.root, '.git/index.lock'), '')
    rule.remove()
    const answer = await finished(textAt(begun, 'operationId'))
    const [message, worktree] = [textAt(answer, 'message'), textAt(answer, 'destination')]
    expect(answer).toMatchObject({ status: 'warning', workIn: 'destination' })
    expect(message).toContain('git update-index -q --refresh failed with exit code 128 and gave no reason')
    expect(message).toContain(
      `See git -C ${repository.root} status and take the changes out there by hand: they are whole in ${worktree}.`,
    )
    expect(await status(worktree)).toBe(before)
  })

  it('names the handoff that has moved an archived thread, and where it went', async () => {
    const threadId = await threadIn(repository.root)
    const there = await handOff(threadId)
    const [operationId, moved] = [textAt(there, 'operationId'), textAt(there, 'threadId')]
    expect(await handOff(threadId)).toMatchObject({
      status: 'error',
      message: `Thread ${threadId} is archived: it was handed off already (operationId ${operationId}) and went on as thread ${moved}; nothing was done.`,
    })
  })
})
