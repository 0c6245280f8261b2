import { mkdir, realpath, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { tempDir, type TempDir } from '@codex-thread-bridge/test-fixtures'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  defineMutation,
  definePlugin,
  type Caller,
  type Example,
  type MutationContext,
  type StepAccess,
} from '../../src/contract/tool.ts'
import { createHost } from '../../src/host/host.ts'
import { Receipt, receiptOutput } from '../../src/ledger/receipt.ts'
import { openCeiling, type Ceiling } from '../../src/policy/ceiling.ts'
import type { Method, Params } from '../../src/protocol/methods.ts'
import { cannedAppServer } from '../../src/testing/canned-app-server.ts'
import { memoryLedger } from '../../src/testing/memory-ledger.ts'

type Body = (ctx: MutationContext<Method>) => Promise<unknown>

const readOnly = { type: 'readOnly', networkAccess: false }
const full = { type: 'dangerFullAccess' }
const workspaceWrite = (members: object = {}) => ({
  type: 'workspaceWrite',
  writableRoots: [],
  networkAccess: false,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: false,
  ...members,
})

const ID = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
const environment = (sandbox: object, members: object = {}) => ({
  thread: { id: ID, cwd: '/', status: { type: 'idle' } },
  cwd: '/',
  model: 'm',
  approvalPolicy: 'never',
  sandbox,
  ...members,
})
const input = [{ type: 'text' as const, text: 'hello' }]
const turn = { id: 'turn-1', status: 'inProgress', items: [] }
const feeding = {
  'turn/start': { turn },
  'turn/steer': { turnId: 'turn-1' },
  'thread/queue/add': { queuedSubmission: { id: 'q', clientUserMessageId: '' } },
}

interface Setting {
  readonly answers?: Example['answers']
  readonly ceiling?: Partial<Ceiling>
  readonly caller?: Caller
}

/** One mutation with this body, run once: its receipt or its error's code, and what reached the App Server. */
const run = async (body: Body, { answers = {}, ceiling = {}, caller = {} }: Setting = {}) => {
  const appServer = cannedAppServer({ ...feeding, ...answers })
  const ledger = memoryLedger()
  const host = createHost({ appServer, ledger, policy: { ceiling: { ...openCeiling, ...ceiling } } })
  const act = defineMutation({
    name: 'act',
    title: 't',
    description: 'd',
    input: Type.Object({}, { additionalProperties: false }),
    output: receiptOutput({}),
    uses: [
      'thread/start',
      'thread/resume',
      'thread/settings/update',
      'turn/start',
      'turn/steer',
      'thread/queue/add',
    ],
    examples: [{ input: {}, answers: {} }],
    run: async (ctx) => {
      await body(ctx)
      return {}
    },
  })
  host.register(definePlugin({ name: 'p', family: 'test', version: '1', tools: [act] }))
  await host.ready()
  const outcome: unknown = await host.call('act', {}, { caller }).catch((error: unknown) => error)
  const rows = ledger.counts().operations
  return { outcome, called: [...appServer.called], rows }
}
const receiptOf = (outcome: unknown) => Value.Parse(Receipt, outcome)

const start =
  (params: Partial<Params<'thread/start'>>): Body =>
  (ctx) =>
    ctx.call('thread/start', { cwd: '/', approvalPolicy: 'never', ephemeral: false, ...params })
const resume: Body = (ctx) => ctx.call('thread/resume', { threadId: ID, excludeTurns: true })
const startTurn =
  (params: Partial<Params<'turn/start'>> = {}): Body =>
  (ctx) =>
    ctx.call('turn/start', { threadId: ID, input, ...params })
const then =
  (...bodies: readonly Body[]): Body =>
  async (ctx) => {
    for (const body of bodies) await body(ctx)
  }

describe('a new thread', () => {
  it.each<[string, Partial<Ceiling>, Caller, Partial<Params<'thread/start'>>, string]>([
    [
      'beyond --max-sandbox',
      { maxSandbox: 'read-only' },
      {},
      { permissions: ':workspace' },
      'The new thread would have workspace-write: this bridge allows read-only at most (--max-sandbox).',
    ],
    [
      'with network under --no-network',
      { network: false },
      {},
      { permissions: ':danger-full-access' },
      'The new thread would have danger-full-access (network included): this bridge allows no network (--no-network).',
    ],
    [
      'with a profile whose limits are not known',
      { network: false },
      {},
      { permissions: 'mine' },
      'The new thread would have the permission profile "mine", whose limits are not known here: this bridge allows no network (--no-network).',
    ],
    [
      'that names no access, which leaves it to the configuration',
      { maxSandbox: 'workspace-write' },
      {},
      {},
      'The new thread would have the access that the App Server is configured for, whose limits are not known here: this bridge allows workspace-write at most (--max-sandbox).',
    ],
    [
      'wider than its caller',
      {},
      { sandbox: 'read-only' },
      { permissions: ':workspace' },
      'The new thread would have workspace-write: the agent that calls has read-only; it may not start or feed an agent with wider access than its own, unless the operator sets --allow-escalation.',
    ],
  ])('%s is refused without a row, before anything is sent', async (_, ceiling, caller, params, message) => {
    const { outcome, called, rows } = await run(start(params), { ceiling, caller })
    const code = caller.sandbox === undefined ? 'ceiling_exceeded' : 'escalation_refused'
    expect(outcome).toMatchObject({ code, message, next: 'fix_call' })
    expect([called, rows]).toEqual([[], 0])
  })

  it('within the ceiling and its caller’s access is started', async () => {
    const { outcome } = await run(start({ permissions: ':workspace' }), {
      ceiling: { maxSandbox: 'workspace-write', network: false },
      caller: { sandbox: 'workspace-write' },
      answers: { 'thread/start': environment(workspaceWrite()) },
    })
    expect(receiptOf(outcome).status).toBe('accepted')
  })

  it('with a profile of its own is started where nothing is limited', async () => {
    const { outcome } = await run(start({ permissions: 'mine' }), {
      answers: { 'thread/start': environment(readOnly) },
    })
    expect(receiptOf(outcome).status).toBe('accepted')
  })

  it('wider than its caller is started when the operator allows escalation', async () => {
    const { outcome } = await run(start({ permissions: ':danger-full-access' }), {
      ceiling: { escalation: true },
      caller: { sandbox: 'read-only' },
      answers: { 'thread/start': environment(full) },
    })
    expect(receiptOf(outcome).status).toBe('accepted')
  })
})

describe('a thread that is fed', () => {
  const feeds: [string, Body][] = [
    ['turn/start', startTurn()],
    ['turn/steer', (ctx) => ctx.call('turn/steer', { threadId: ID, expectedTurnId: 'turn-1', input })],
    ['thread/queue/add', (ctx) => ctx.call('thread/queue/add', { threadId: ID, input })],
  ]

  it.each(feeds)('by %s is judged by the environment that it was resumed with', async (method, feed) => {
    const { outcome, called } = await run(then(resume, feed), {
      answers: { 'thread/resume': environment(full) },
      ceiling: { maxSandbox: 'read-only' },
    })
    expect(receiptOf(outcome)).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: {
        code: 'ceiling_exceeded',
        message: `Thread ${ID} has danger-full-access (network included): this bridge allows read-only at most (--max-sandbox).`,
      },
      steps: [{ name: 'thread/resume', state: 'answered' }],
    })
    expect(called).not.toContain(method)
  })

  it.each(feeds)('by %s is refused when its environment was not seen in this call', async (method, feed) => {
    const { outcome, called } = await run(feed)
    expect(receiptOf(outcome)).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: {
        code: 'environment_unseen',
        message: `${method} needs the environment of thread ${ID} as the App Server reports it in this call; nothing was sent.`,
      },
    })
    expect(called).toEqual([])
  })

  it('is refused when another thread’s environment was seen', async () => {
    const other = environment(readOnly, { thread: { id: 'other', cwd: '/', status: { type: 'idle' } } })
    const { outcome } = await run(then(resume, startTurn()), { answers: { 'thread/resume': other } })
    expect(receiptOf(outcome).error?.code).toBe('environment_unseen')
  })

  it('is known in any spelling of its id', async () => {
    const { outcome } = await run(then(resume, startTurn({ threadId: ID.toUpperCase() })), {
      answers: { 'thread/resume': environment(readOnly) },
      ceiling: { maxSandbox: 'read-only' },
    })
    expect(receiptOf(outcome).status).toBe('accepted')
  })

  it('is judged by the newest report', async () => {
    const answers = { 'thread/resume': { each: [environment(readOnly), environment(full)] } }
    const { outcome, called } = await run(then(resume, resume, startTurn()), {
      answers,
      caller: { sandbox: 'read-only' },
    })
    expect(receiptOf(outcome).error?.code).toBe('escalation_refused')
    expect(called).toEqual(['thread/resume'])
  })

  it('after it was started is judged by what it was started with', async () => {
    const { outcome } = await run(then(start({ permissions: ':read-only' }), startTurn()), {
      answers: { 'thread/start': environment(full) },
      ceiling: { maxSandbox: 'read-only' },
    })
    expect(receiptOf(outcome)).toMatchObject({
      status: 'failed',
      next: 'inspect',
      error: { code: 'ceiling_exceeded' },
    })
  })

  it.each<[string, Partial<Ceiling>, Caller, object]>([
    [
      'network under --no-network',
      { network: false },
      {},
      { sandbox: workspaceWrite({ networkAccess: true }) },
    ],
    [
      'a profile whose limits are not known',
      { maxSandbox: 'workspace-write' },
      {},
      { sandbox: readOnly, activePermissionProfile: { id: 'mine' } },
    ],
    [
      'a sandbox that is not known',
      { maxSandbox: 'workspace-write' },
      {},
      { sandbox: { type: 'externalSandbox', networkAccess: 'restricted' } },
    ],
    ['more than its caller in an unknown mode', {}, { sandbox: 'custom' }, { sandbox: workspaceWrite() }],
  ])('with %s gets nothing', async (_, ceiling, caller, members) => {
    const { outcome, called } = await run(then(resume, startTurn()), {
      answers: { 'thread/resume': environment(readOnly, members) },
      ceiling,
      caller,
    })
    expect(receiptOf(outcome)).toMatchObject({ status: 'failed', next: 'new_request_id' })
    expect(called).toEqual(['thread/resume'])
  })

  it.each<[string, Partial<Params<'turn/start'>>]>([
    ['a policy', { sandboxPolicy: full }],
    ['a profile', { permissions: ':danger-full-access' }],
  ])('may not get %s beyond the ceiling with its turn', async (_, params) => {
    const { outcome, called } = await run(then(resume, startTurn(params)), {
      answers: { 'thread/resume': environment(readOnly) },
      ceiling: { maxSandbox: 'read-only' },
    })
    expect(receiptOf(outcome)).toMatchObject({
      next: 'new_request_id',
      error: {
        message: `Thread ${ID} would get danger-full-access (network included): this bridge allows read-only at most (--max-sandbox).`,
      },
    })
    expect(called).toEqual(['thread/resume'])
  })

  it('may not get settings beyond its caller’s access', async () => {
    const update: Body = (ctx) =>
      ctx.call('thread/settings/update', { threadId: ID, permissions: ':workspace' })
    const { outcome, called, rows } = await run(update, { caller: { sandbox: 'read-only' } })
    expect(outcome).toMatchObject({ code: 'escalation_refused', next: 'fix_call' })
    expect([called, rows]).toEqual([[], 0])
  })
})

describe('the calling thread', () => {
  it.each([ID, ID.toUpperCase(), ID.replaceAll('-', ''), `{${ID}}`, `urn:uuid:${ID}`])(
    'is never fed, as %s neither',
    async (threadId) => {
      const { outcome, called } = await run(then(resume, startTurn()), {
        answers: { 'thread/resume': environment(readOnly) },
        caller: { threadId },
      })
      expect(receiptOf(outcome).error?.code).toBe('self_target')
      expect(called).toEqual(['thread/resume'])
    },
  )

  it('never gets other settings', async () => {
    const update: Body = (ctx) => ctx.call('thread/settings/update', { threadId: ID })
    expect((await run(update, { caller: { threadId: ID } })).outcome).toMatchObject({ code: 'self_target' })
  })
})

describe('the allowed roots', () => {
  let folder: TempDir
  let allowed: string
  let outside: string
  let link: string
  beforeAll(async () => {
    folder = tempDir('roots')
    const root = await realpath(folder.path)
    allowed = join(root, 'a')
    outside = join(root, 'ab')
    link = join(allowed, 'link')
    await mkdir(allowed)
    await mkdir(outside)
    await symlink(outside, link)
  })
  afterAll(() => folder.remove())

  const below = () => ({ allowRoots: [allowed] })
  const custom = (root: string) => ({
    sandbox: 'workspace-write',
    config: {
      sandbox_workspace_write: {
        writable_roots: [root],
        network_access: false,
        exclude_tmpdir_env_var: false,
        exclude_slash_tmp: false,
      },
    },
  })

  it('hold what is in them', async () => {
    const { outcome } = await run(start({ ...custom(join(allowed, 'new')), cwd: allowed }), {
      ceiling: below(),
      answers: { 'thread/start': environment(readOnly) },
    })
    expect(receiptOf(outcome).status).toBe('accepted')
  })

  it.each<[string, () => Partial<Params<'thread/start'>>, () => string]>([
    ['a directory beside them', () => ({ cwd: outside, sandbox: 'read-only' }), () => outside],
    ['a link out of them', () => ({ cwd: link, sandbox: 'read-only' }), () => link],
    [
      'a path back out of them',
      () => ({ cwd: `${allowed}/../ab`, sandbox: 'read-only' }),
      () => `${allowed}/../ab`,
    ],
    ['a relative path', () => ({ cwd: 'a', sandbox: 'read-only' }), () => 'a'],
    ['a writable root beside them', () => ({ cwd: allowed, ...custom(outside) }), () => outside],
    [
      'a workspace root beside them',
      () => ({ cwd: allowed, sandbox: 'read-only', runtimeWorkspaceRoots: [outside] }),
      () => outside,
    ],
  ])('refuse %s', async (_, params, named) => {
    const { outcome, called, rows } = await run(start(params()), { ceiling: below() })
    expect(outcome).toMatchObject({
      code: 'ceiling_exceeded',
      next: 'fix_call',
      message: `The new thread would work in ${named()}: this bridge works only in ${allowed} (--allow-root).`,
    })
    expect([called, rows]).toEqual([[], 0])
  })

  it.each<[string, () => object]>([
    ['works beside them', () => ({ cwd: outside })],
    ['works where a link of them leads', () => ({ cwd: link })],
    ['belongs beside them', () => ({ thread: { id: ID, cwd: outside, status: { type: 'idle' } } })],
    ['may write beside them', () => ({ sandbox: workspaceWrite({ writableRoots: [outside] }) })],
    ['has a workspace root beside them', () => ({ runtimeWorkspaceRoots: [allowed, outside] })],
  ])('keep a message from a thread that %s', async (_, members) => {
    const inside = { cwd: allowed, thread: { id: ID, cwd: allowed, status: { type: 'idle' } } }
    const { outcome, called } = await run(then(resume, startTurn()), {
      answers: { 'thread/resume': environment(readOnly, { ...inside, ...members() }) },
      ceiling: below(),
    })
    expect(receiptOf(outcome)).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'ceiling_exceeded' },
    })
    expect(called).toEqual(['thread/resume'])
  })

  it.each<[string, () => StepAccess, boolean]>([
    ['works in them', () => ({ cwd: allowed, roots: [join(allowed, 'new', 'tree')] }), true],
    ['writes beside them', () => ({ cwd: allowed, roots: [join(outside, 'tree')] }), false],
    ['works beside them', () => ({ cwd: outside }), false],
    [
      'starts what may write beside them',
      () => ({
        cwd: allowed,
        policy: {
          type: 'workspaceWrite',
          writableRoots: [outside],
          networkAccess: false,
          excludeTmpdirEnvVar: true,
          excludeSlashTmp: true,
        },
      }),
      false,
    ],
  ])('judge a step that %s', async (_, access, may) => {
    let done = false
    const step: Body = (ctx) => ctx.step('git worktree add', async () => (done = true), { access: access() })
    const { outcome, rows } = await run(step, { ceiling: below() })
    expect([done, rows]).toEqual([may, may ? 1 : 0])
    if (!may) expect(outcome).toMatchObject({ code: 'ceiling_exceeded', next: 'fix_call' })
  })
})

describe('a step that starts a process', () => {
  const step =
    (access: StepAccess): Body =>
    (ctx) =>
      ctx.step('codex exec', async () => undefined, { access })

  it('is refused before it begins, and leaves no row', async () => {
    const { outcome, rows } = await run(step({ cwd: '/', policy: { type: 'dangerFullAccess' } }), {
      caller: { sandbox: 'workspace-write' },
    })
    expect(outcome).toMatchObject({
      code: 'escalation_refused',
      next: 'fix_call',
      message:
        'codex exec would start something with danger-full-access (network included): the agent that calls has workspace-write; it may not start or feed an agent with wider access than its own, unless the operator sets --allow-escalation.',
    })
    expect(rows).toBe(0)
  })

  it('after another step ends as failed', async () => {
    const twice = then(
      (ctx) => ctx.step('git worktree add', async () => undefined),
      step({ cwd: '/', policy: { type: 'dangerFullAccess' } }),
    )
    const { outcome } = await run(twice, { ceiling: { network: false } })
    expect(receiptOf(outcome)).toMatchObject({
      status: 'failed',
      next: 'inspect',
      error: { code: 'ceiling_exceeded' },
      steps: [{ name: 'git worktree add', state: 'answered' }],
    })
  })
})
