import { describe, expect, it } from 'vitest'
import type { Caller, StepAccess } from '../../src/contract/tool.ts'
import type { Ceiling } from '../../src/policy/ceiling.ts'
import type { Params } from '../../src/protocol/methods.ts'
import {
  environment,
  full,
  ID,
  input,
  readOnly,
  receiptOf,
  resume,
  run,
  start,
  startTurn,
  inOrder,
  workspaceWrite,
  type Body,
} from './gated-mutation.ts'

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
    const { outcome, called } = await run(inOrder(resume, feed), {
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
    const { outcome } = await run(inOrder(resume, startTurn()), { answers: { 'thread/resume': other } })
    expect(receiptOf(outcome).error?.code).toBe('environment_unseen')
  })

  it('is known in any spelling of its id', async () => {
    const { outcome } = await run(inOrder(resume, startTurn({ threadId: ID.toUpperCase() })), {
      answers: { 'thread/resume': environment(readOnly) },
      ceiling: { maxSandbox: 'read-only' },
    })
    expect(receiptOf(outcome).status).toBe('accepted')
  })

  it('is judged by the newest report', async () => {
    const answers = { 'thread/resume': { each: [environment(readOnly), environment(full)] } }
    const { outcome, called } = await run(inOrder(resume, resume, startTurn()), {
      answers,
      caller: { sandbox: 'read-only' },
    })
    expect(receiptOf(outcome).error?.code).toBe('escalation_refused')
    expect(called).toEqual(['thread/resume'])
  })

  it('after it was started is judged by what it was started with', async () => {
    const { outcome } = await run(inOrder(start({ permissions: ':read-only' }), startTurn()), {
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
    const { outcome, called } = await run(inOrder(resume, startTurn()), {
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
    const { outcome, called } = await run(inOrder(resume, startTurn(params)), {
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
      const { outcome, called } = await run(inOrder(resume, startTurn()), {
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
    const twice = inOrder(
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
