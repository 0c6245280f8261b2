import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  at,
  createRepository,
  listing,
  NEWEST_CODEX,
  poll,
  type Repository,
  tempDir,
  type TempDir,
  textAt,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFamily, startStage, threadIdOf, type Family, type FamilyOptions, type Stage } from './family.ts'

/** What a refusal tells, thrown or in a receipt. */
const told = async (call: Promise<unknown>): Promise<Record<string, unknown>> => {
  const answer = await call.then(
    (value) => at(value, 'error'),
    (error: unknown) => error,
  )
  return { code: at(answer, 'code'), message: at(answer, 'message'), hint: at(answer, 'hint') }
}

describe('what a worktree cannot be made for is told before anything is made', () => {
  let stage: Stage
  let repository: Repository
  let state: TempDir
  let stateDir: string
  const families: Family[] = []
  beforeAll(async () => {
    stage = await startStage(NEWEST_CODEX)
  })
  beforeEach(async () => {
    repository = await createRepository()
    state = tempDir('state')
    stateDir = await realpath(state.path)
  })
  afterEach(async () => {
    stage.world.proxy.clear()
    for (const family of families.splice(0)) await family.close()
    await state.remove()
    await repository.remove()
  })
  afterAll(() => stage.close())

  const familyWith = async (options: FamilyOptions): Promise<Family> => {
    const family = await startFamily(stage.world.socketPath, { stateDir, ...options })
    families.push(family)
    return family
  }
  const threadIn = async (cwd: string): Promise<string> => {
    const threadId = await stage.client.startThread({ cwd, permissions: ':workspace', sandbox: undefined })
    await stage.client.runTurn(threadId, 'work here')
    return threadId
  }
  const projectIn = async (family: Family) =>
    textAt(await family.call('list_projects'), 'projects.0.projectId')
  const inWorktree = async (family: Family, startingState: object = { type: 'working-tree' }) =>
    family.call('create_thread', {
      prompt: 'x',
      target: {
        type: 'project',
        projectId: await projectIn(family),
        environment: { type: 'worktree', startingState },
      },
    })
  /** Every tool that makes a worktree of a checkout, for a thread that works there. */
  const makers = (family: Family, threadId: string, call: object = {}) => ({
    create_thread: () => inWorktree(family),
    fork_thread: () =>
      family.call('fork_thread', { threadId, environment: { type: 'worktree' } }, { caller: call }),
    handoff_thread: () => family.call('handoff_thread', { threadId }, { caller: call }),
  })
  const expectNothingMade = async (before: readonly string[]): Promise<void> => {
    expect(await listing(repository.directory)).toEqual(before)
    expect(existsSync(join(stateDir, 'worktrees'))).toBe(false)
    expect(existsSync(join(stateDir, 'documents'))).toBe(false)
  }

  it.each(['create_thread', 'fork_thread', 'handoff_thread'] as const)(
    '%s: a Git directory outside --allow-root',
    async (tool) => {
      const allowed = join(repository.directory, 'allowed')
      const root = join(allowed, 'source')
      await mkdir(root, { recursive: true })
      await symlink(join(repository.root, '.git'), join(root, '.git'))
      const family = await familyWith({ projects: [root], ceiling: { allowRoots: [allowed, stateDir] } })
      const threadId = await threadIn(root)
      const before = await listing(repository.directory)
      expect(await told(makers(family, threadId)[tool]())).toMatchObject({
        code: 'ceiling_exceeded',
        message: `Git in ${root} would work in ${join(repository.root, '.git')}: this bridge works only in ${allowed}, ${stateDir} (--allow-root).`,
      })
      await expectNothingMade(before)
    },
  )

  it('a worktree whose repository is in an allowed root is a source', async () => {
    const linked = join(repository.directory, 'linked')
    await repository.git(['worktree', 'add', '--quiet', '--detach', linked])
    const allowRoots = [linked, repository.root, stateDir]
    const family = await familyWith({ projects: [linked], ceiling: { allowRoots } })
    const threadId = await threadIn(linked)
    const { create_thread, fork_thread, handoff_thread } = makers(family, threadId)
    expect(await create_thread()).toMatchObject({ status: 'accepted' })
    expect(await fork_thread()).toMatchObject({ status: 'accepted' })
    const operationId = textAt(await handoff_thread(), 'operationId')
    const ended = await poll(async () => {
      const status = await family.call('get_handoff_status', { operationId })
      return at(status, 'status') !== 'running' && status
    })
    expect(ended).toMatchObject({ status: 'success', direction: 'local-to-worktree' })
  })

  it.each(['create_thread', 'fork_thread', 'handoff_thread', 'projectless'] as const)(
    '%s: permissions that the App Server does not allow',
    async (tool) => {
      const family = await familyWith({ projects: [repository.root] })
      const threadId = await threadIn(repository.root)
      stage.world.proxy.on(
        { method: 'permissionProfile/list', kind: 'request' },
        { respond: { result: { data: [], nextCursor: null } } },
      )
      const before = await listing(repository.directory)
      const calls = {
        ...makers(family, threadId),
        projectless: () =>
          family.call('create_thread', { prompt: 'x', target: { type: 'projectless', directoryName: 'd' } }),
      }
      expect(await told(calls[tool]())).toMatchObject({ code: 'permission_profile_unavailable' })
      await expectNothingMade(before)
    },
  )

  it.each(['fork_thread', 'handoff_thread'] as const)(
    '%s: a thread with wider access than the calling agent',
    async (tool) => {
      const family = await familyWith({})
      const threadId = await threadIn(repository.root)
      const caller = { threadId: '01a22d6c-ee00-7d30-84f1-a4cd16c32862', sandbox: 'read-only' }
      const before = await listing(repository.directory)
      expect(await told(makers(family, threadId, caller)[tool]())).toMatchObject({
        code: 'escalation_refused',
      })
      await expectNothingMade(before)
    },
  )

  it.each(['create_thread', 'fork_thread', 'handoff_thread'] as const)(
    '%s: a named pipe where Git reads',
    async (tool) => {
      const family = await familyWith({ projects: [repository.root] })
      const threadId = await threadIn(repository.root)
      const config = join(repository.root, '.git/config')
      await rm(config)
      await promisify(execFile)('mkfifo', [config])
      const before = await listing(repository.directory)
      expect(await told(makers(family, threadId)[tool]())).toEqual({
        code: 'invalid_source_repository',
        message: `Git cannot read the repository: ${config} is a named pipe, not a regular file.`,
        hint: 'Put the file back, or take away what stands there.',
      })
      await expectNothingMade(before)
    },
  )

  it.each([
    ['create_thread', 'Use environment {"type": "local"}.'],
    ['fork_thread', 'Use environment {"type": "same-directory"}.'],
    [
      'handoff_thread',
      'Only a thread that works in a Git checkout can be handed off; this one stays where it is.',
    ],
  ] as const)('%s: a directory in no checkout, with what this tool can do', async (tool, hint) => {
    const { home } = repository
    const family = await familyWith({ projects: [home] })
    const threadId = await threadIn(home)
    expect(await told(makers(family, threadId)[tool]())).toEqual({
      code: 'invalid_source_repository',
      message: `${home} is in no Git checkout.`,
      hint,
    })
  })

  it('handoff_thread: another host', async () => {
    const family = await familyWith({})
    const call = family.call('handoff_thread', { threadId: 't', destinationHostId: 'remote' })
    expect(await told(call)).toEqual({
      code: 'unsupported_target',
      message: 'There is no host "remote": this bridge serves "local" alone.',
      hint: 'Leave destinationHostId out, or pass "local".',
    })
  })

  it.each(['--detach', 'a..b', 'a b', '/a', 'a.lock', '@{-1}', 'HEAD'])(
    'create_thread: %j, which is no branch name, with what is one',
    async (branchName) => {
      const family = await familyWith({ projects: [repository.root] })
      const before = await listing(repository.directory)
      const branch = { type: 'branch', branchName, onMissing: 'create-branch' }
      expect(await told(inWorktree(family, branch))).toEqual({
        code: 'unknown_revision',
        message: `${JSON.stringify(branchName)} is no name of a branch.`,
        hint: 'A branch name has no blank, control character, "~", "^", ":", "?", "*", "[", "\\", ".." or "@{"; no part between slashes is empty, begins with "." or ends with ".lock"; the whole does not begin with "-", end with "." or be "HEAD" (git check-ref-format).',
      })
      await expectNothingMade(before)
    },
  )

  it('create_thread: a repository without a commit', async () => {
    const empty = join(repository.directory, 'empty')
    await repository.git(['init', '--quiet', empty], repository.directory)
    const family = await familyWith({ projects: [empty] })
    expect(await told(inWorktree(family))).toEqual({
      code: 'unknown_revision',
      message: `The repository has no commit yet: ${empty}`,
      hint: 'Make a first commit there.',
    })
  })

  it('create_thread: a documents root that is a file, or a project that is gone', async () => {
    const file = join(stateDir, 'file')
    await writeFile(file, '')
    const project = join(stateDir, 'project')
    await mkdir(project)
    const family = await familyWith({ documentsRoot: file, projects: [project] })
    const projectId = await projectIn(family)
    expect(
      await told(family.call('create_thread', { prompt: 'x', target: { type: 'projectless' } })),
    ).toMatchObject({
      code: 'invalid_cwd',
      hint: 'Use a project of list_projects; the operator says with --documents-root where directories are made.',
    })
    await rm(project, { recursive: true })
    const call = family.call('create_thread', { prompt: 'x', target: { type: 'project', projectId } })
    expect(await told(call)).toMatchObject({
      code: 'invalid_cwd',
      hint: 'Use another project of list_projects, or make its directory again.',
    })
  })

  it('starts where all is well', async () => {
    const family = await familyWith({ projects: [repository.root] })
    const threadId = threadIdOf(await inWorktree(family))
    expect(await stage.client.call('thread/read', { threadId })).toMatchObject({ thread: { id: threadId } })
  })
})
