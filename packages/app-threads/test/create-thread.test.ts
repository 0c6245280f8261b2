import { existsSync } from 'node:fs'
import { readFile, symlink, writeFile, mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  at,
  createRepository,
  listAt,
  poll,
  type Repository,
  tempDir,
  testedVersions,
  textAt,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFamily, startStage, threadIdOf, type Family, type Stage } from './family.ts'

const DAY = /^\d{4}-\d\d-\d\d$/

describe.each(testedVersions)('create_thread on Codex %s', (version) => {
  let stage: Stage
  let repository: Repository
  let family: Family
  const documents = tempDir('docs')
  const projects = async (of: Family = family) => listAt(await of.call('list_projects'), 'projects')
  const projectId = async (path: string) =>
    textAt(
      (await projects()).find((project) => at(project, 'path') === path),
      'projectId',
    )

  beforeAll(async () => {
    stage = await startStage(version)
  })
  beforeEach(async () => {
    repository = await createRepository()
    family = await startFamily(stage.world.socketPath, {
      projects: [stage.world.cwd, repository.root],
      documentsRoot: documents.path,
    })
  })
  afterEach(async () => {
    stage.world.proxy.clear()
    await family.close()
    await repository.remove()
  })
  afterAll(async () => {
    await stage.close()
    await documents.remove()
  })

  const threadRead = async (threadId: string) =>
    at(await stage.client.call('thread/read', { threadId }), 'thread')
  const receipt = (answer: unknown) => family.host.operations.get(textAt(answer, 'requestId'))

  it('makes a read-only thread in a project’s directory, titled and with the prompt', async () => {
    const target = { type: 'project', projectId: await projectId(stage.world.cwd) }
    const title = `  A   title of ${'more '.repeat(20)}`
    const answer = await family.call('create_thread', { prompt: 'Do it.', target, title })
    expect(answer).toEqual({
      requestId: expect.any(String) as string,
      hostId: 'local',
      threadId: expect.any(String) as string,
      turnId: expect.any(String) as string,
      delivery: { state: 'recorded', as: 'turn' },
      status: 'accepted',
      next: 'none',
      replayed: false,
    })
    const thread = await threadRead(threadIdOf(answer))
    expect(thread).toMatchObject({ cwd: stage.world.cwd })
    const name = textAt(thread, 'name')
    expect([name.length, name.slice(0, 11), name.at(-1)]).toEqual([60, 'A title of ', '…'])
    expect(await receipt(answer)).toMatchObject({
      creation: { sandbox: { type: 'readOnly' }, activePermissionProfile: { id: ':read-only' } },
      durable: true,
      restartSafe: true,
      phase: 'ready',
    })
    expect(await family.call('wait_threads', { targets: [{ threadId: threadIdOf(answer) }] })).toMatchObject({
      wake: { reason: 'turnCompleted' },
    })
  })

  it('assigns the thread to the App Server’s project', async () => {
    const created = await stage.client.call('project/create', {
      name: 'Recorded',
      roots: [{ path: documents.path }],
      idempotencyKey: documents.path,
    })
    const id = textAt(created, 'project.id')
    const answer = await family.call('create_thread', {
      prompt: 'x',
      target: { type: 'project', projectId: id },
    })
    expect(await threadRead(threadIdOf(answer))).toMatchObject({ projectId: id, cwd: documents.path })
  })

  it('makes directories for threads without a project, each its own, never outside the root', async () => {
    const made = async (directoryName?: string) =>
      textAt(
        await threadRead(
          threadIdOf(
            await family.call('create_thread', {
              prompt: 'x',
              target: { type: 'projectless', ...(directoryName === undefined ? {} : { directoryName }) },
            }),
          ),
        ),
        'cwd',
      )
    const [first, second, wild] = [await made('notes'), await made('notes'), await made('../../etc/Ü b')]
    expect([basename(first), basename(second), basename(wild)]).toEqual(['notes', 'notes-2', 'etc-Ü-b'])
    for (const path of [first, second, wild]) {
      expect(dirname(dirname(path))).toBe(documents.path)
      expect(basename(dirname(path))).toMatch(DAY)
    }
    expect(basename(await made())).toBe('thread')
  })

  it('does not follow a day’s directory out of the root', async () => {
    const [root, elsewhere] = [tempDir('docs'), tempDir('else')]
    const now = new Date()
    const two = (value: number) => String(value).padStart(2, '0')
    await symlink(
      elsewhere.path,
      join(root.path, `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`),
    )
    const own = await startFamily(stage.world.socketPath, { documentsRoot: root.path })
    expect(await own.call('create_thread', { prompt: 'x', target: { type: 'projectless' } })).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_cwd' },
    })
    await own.close()
    await root.remove()
    await elsewhere.remove()
  })

  it('gives a thread in a repository a worktree at the default branch, under the state directory', async () => {
    await repository.git(['checkout', '--quiet', '-b', 'work'])
    await repository.commit([{ path: 'on work.txt', content: 'x' }], {
      branch: 'work',
      parent: repository.head,
    })
    const answer = await family.call('create_thread', {
      prompt: 'x',
      target: { type: 'project', projectId: await projectId(repository.root) },
    })
    const cwd = textAt(await threadRead(threadIdOf(answer)), 'cwd')
    expect(cwd.startsWith(join(family.stateDir, 'worktrees', 'source-'))).toBe(true)
    expect(await repository.git(['rev-parse', 'HEAD'], cwd)).toBe(repository.head)
    expect(await repository.git(['status', '--porcelain'], cwd)).toBe('')
    expect(await receipt(answer)).toMatchObject({
      worktree: {
        sourceRepository: repository.root,
        checkout: cwd,
        revision: repository.head,
        branch: null,
        state: 'created',
      },
      creation: { runtimeWorkspaceRoots: [cwd] },
    })
  })

  it('starts a worktree from a branch, or makes it, or says that there is none', async () => {
    const other = await repository.commit([{ path: 'more.txt', content: 'x' }], {
      branch: 'feature/x',
      parent: repository.head,
    })
    const make = async (startingState: object) =>
      family.call('create_thread', {
        prompt: 'x',
        target: {
          type: 'project',
          projectId: await projectId(repository.root),
          environment: { type: 'worktree', startingState },
        },
      })
    const cwdOf = async (answer: unknown) => textAt(await threadRead(threadIdOf(answer)), 'cwd')
    const there = await cwdOf(await make({ type: 'branch', branchName: 'feature/x' }))
    expect(await repository.git(['rev-parse', 'HEAD'], there)).toBe(other)
    const made = await cwdOf(
      await make({ type: 'branch', branchName: 'new/one', onMissing: 'create-branch' }),
    )
    expect(await repository.git(['symbolic-ref', 'HEAD'], made)).toBe('refs/heads/new/one')
    expect(await repository.git(['rev-parse', 'HEAD'], made)).toBe(repository.head)
    for (const branchName of ['missing', '--help', 'a..b'])
      await expect(make({ type: 'branch', branchName })).rejects.toMatchObject({
        code: 'unknown_revision',
        field: 'target.environment.startingState.branchName',
      })
    expect(stage.world.proxy.sent('thread/start').length).toBeGreaterThan(0)
  })

  it('carries the working tree, and leaves the checkout as it is', async () => {
    await writeFile(join(repository.root, 'read me.txt'), 'changed\n')
    await writeFile(join(repository.root, 'new.txt'), 'new\n')
    await repository.git(['add', 'new.txt'])
    await mkdir(join(repository.root, 'sub'))
    await writeFile(join(repository.root, 'sub/untracked.txt'), 'untracked\n')
    const before = await repository.git(['status', '--porcelain'])
    const answer = await family.call('create_thread', {
      prompt: 'x',
      target: {
        type: 'project',
        projectId: await projectId(repository.root),
        environment: { type: 'worktree', startingState: { type: 'working-tree' } },
      },
    })
    const cwd = textAt(await threadRead(threadIdOf(answer)), 'cwd')
    expect(await repository.git(['status', '--porcelain'], cwd)).toBe(before)
    expect(await repository.git(['status', '--porcelain'])).toBe(before)
    expect(await readFile(join(cwd, 'sub/untracked.txt'), 'utf8')).toBe('untracked\n')
    expect(await receipt(answer)).toMatchObject({
      worktree: { carried: { staged: 1, unstaged: 1, untracked: 1 } },
    })
  })

  it('makes nothing when the project is no repository, unknown, or gone', async () => {
    const started = stage.world.proxy.sent('thread/start').length
    const target = (id: string, environment?: object) => ({
      prompt: 'x',
      target: { type: 'project', projectId: id, ...(environment === undefined ? {} : { environment }) },
    })
    await expect(
      family.call('create_thread', target(await projectId(stage.world.cwd), { type: 'worktree' })),
    ).rejects.toMatchObject({ code: 'invalid_source_repository', field: 'target.environment.type' })
    await expect(family.call('create_thread', target('nothing'))).rejects.toMatchObject({
      code: 'unknown_project',
      field: 'target.projectId',
    })
    await expect(
      family.call('create_thread', { ...target('nothing'), model: 'gpt-5.5', thinking: 'none' }),
    ).rejects.toMatchObject({ code: 'unsupported_model', field: 'thinking' })
    expect(stage.world.proxy.sent('thread/start')).toHaveLength(started)
    expect(existsSync(join(family.stateDir, 'worktrees'))).toBe(false)
  })

  it('gives no more than the ceiling and the caller have', async () => {
    const wide = await startFamily(stage.world.socketPath, {
      documentsRoot: documents.path,
      defaultPermissions: ':workspace',
    })
    const capped = await startFamily(stage.world.socketPath, {
      documentsRoot: documents.path,
      defaultPermissions: ':danger-full-access',
      ceiling: { maxSandbox: 'workspace-write' },
    })
    const profile = async (of: Family, sandbox?: string) => {
      const answer = await of.call(
        'create_thread',
        { prompt: 'x', target: { type: 'projectless' } },
        sandbox === undefined ? {} : { caller: { sandbox } },
      )
      return at(
        await of.host.operations.get(textAt(answer, 'requestId')),
        'creation.activePermissionProfile.id',
      )
    }
    expect(await profile(wide)).toBe(':workspace')
    expect(await profile(wide, 'read-only')).toBe(':read-only')
    expect(await profile(wide, 'danger-full-access')).toBe(':workspace')
    expect(await profile(capped)).toBe(':workspace')
    await wide.close()
    await capped.close()
  })

  it('answers within 5 s with a clientThreadId that is readable, waitable and refused elsewhere, and goes on', async () => {
    const rule = stage.world.proxy.on({ method: 'thread/start', kind: 'request' }, 'delay')
    const answer = await family.call('create_thread', { prompt: 'slow one', target: { type: 'projectless' } })
    const threadId = textAt(answer, 'clientThreadId')
    expect(answer).toMatchObject({
      clientThreadId: expect.stringMatching(/^client-/) as string,
      phase: 'conversation-starting',
      execution: 'running',
      requestId: threadId.replace('client-', ''),
      hostId: 'local',
    })
    expect(at(answer, 'threadId')).toBeUndefined()
    const creation = { clientThreadId: threadId, phase: 'conversation-starting' }
    expect(await family.call('read_thread', { threadId })).toMatchObject({
      thread: { id: threadId, status: { type: 'conversation-starting' } },
      turns: [],
      creation,
    })
    const snapshot = await family.call('wait_threads', { targets: [{ threadId }], timeoutMs: 0 })
    expect(snapshot).toMatchObject({ timedOut: true, polls: [{ thread: { id: threadId }, creation }] })
    const refused: readonly (readonly [string, object])[] = [
      ['send_message_to_thread', { threadId, prompt: 'x' }],
      ['set_thread_title', { threadId, title: 'x' }],
      ['set_thread_pinned', { threadId, pinned: true }],
      ['set_thread_archived', { threadId, archived: true }],
      ['fork_thread', { threadId }],
    ]
    for (const [tool, args] of refused)
      await expect(family.call(tool, args)).rejects.toMatchObject({
        code: 'thread_pending',
        field: 'threadId',
        message: `Thread ${threadId} is in the phase conversation-starting`,
      })
    const waiting = family.call('wait_threads', { targets: [{ threadId }] })
    rule.remove()
    const woken = await waiting
    expect(woken).toMatchObject({
      timedOut: false,
      wake: { reason: 'turnCompleted' },
      polls: [{ creation: { phase: 'ready' }, latestTurn: { status: 'completed' } }],
    })
    const real = textAt(woken, 'polls.0.thread.id')
    expect(await family.call('read_thread', { threadId })).toMatchObject({
      thread: { id: real },
      creation: { phase: 'ready', threadId: real },
      turns: [{ status: 'completed' }],
    })
    await expect(family.call('set_thread_title', { threadId, title: 'x' })).rejects.toMatchObject({
      code: 'thread_pending',
      hint: `Its threadId is ${real}: use that.`,
    })
    expect(stage.world.proxy.reached('thread/start').length).toBeGreaterThan(0)
  })

  it('tells of a creation that failed, and why', async () => {
    stage.world.proxy.on(
      { method: 'thread/start', kind: 'request' },
      { respond: { error: { code: -32600, message: 'not today' } } },
    )
    const answer = await family.call('create_thread', { prompt: 'x', target: { type: 'projectless' } })
    expect(answer).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('not today') as string },
    })
    const threadId = `client-${textAt(answer, 'requestId')}`
    const creation = { phase: 'failed', reason: expect.stringContaining('not today') as string }
    expect(await family.call('read_thread', { threadId })).toMatchObject({ creation })
    expect(await family.call('wait_threads', { targets: [{ threadId }] })).toMatchObject({
      timedOut: false,
      wake: { reason: 'inactiveStatus' },
      polls: [{ creation }],
    })
    await expect(family.call('read_thread', { threadId: 'client-nothing' })).rejects.toMatchObject({
      code: 'unknown_thread',
      field: 'threadId',
    })
  })

  it('never reports a creation that happened as failed: a lost answer is found again', async () => {
    stage.world.proxy.on({ method: 'turn/start', kind: 'request' }, { cut: 'after' })
    const lost = await family.call('create_thread', {
      prompt: 'lost and found',
      target: { type: 'projectless' },
    })
    expect(lost).toMatchObject({
      status: 'outcome_unknown',
      next: 'reconcile',
      threadId: expect.any(String) as string,
    })
    const threadId = `client-${textAt(lost, 'requestId')}`
    await poll(async () => at(await family.call('read_thread', { threadId }), 'creation.phase') === 'ready')
    expect(await receipt(lost)).toMatchObject({ status: 'accepted', next: 'none' })
  })
})
