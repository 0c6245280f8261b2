import {
  holdReply,
  NEWEST_CODEX,
  startAppServer,
  startWorld,
  testedVersions,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { AppServerError } from '../../src/contract/index.ts'
import type { Method, Params } from '../../src/protocol/index.ts'
import { appServerError } from '../../src/transport/rpc-errors.ts'
import { client, type Client, rejection, soon } from './support.ts'

const input = [{ type: 'text' as const, text: 'hello' }]
const start = { approvalPolicy: 'never', ephemeral: false }
const nobody = '0199a1b2-0000-7000-8000-000000000000'

describe.each(testedVersions)('what the App Server %s refuses', (version) => {
  let world: World
  beforeAll(async () => {
    world = await startWorld({ version })
  })
  afterAll(() => world.close())

  const codeOf = async <M extends Method>(appServer: Client, method: M, params: Params<M>) => {
    const error = await rejection(appServer.actions.call(method, params))
    if (!AppServerError.is(error)) throw error
    return error.code
  }
  const refusals = async <M extends Method>(cases: readonly [M, Params<M>][]) => {
    const appServer = client(world.appServer.socketPath)
    const codes: Partial<Record<Method, string>> = {}
    for (const [method, params] of cases) codes[method] = await codeOf(appServer, method, params)
    return codes
  }
  const finishedThread = async () => {
    const raw = await world.openClient()
    const threadId = await raw.startThread({ cwd: world.cwd })
    await raw.runTurn(threadId, 'hello')
    return { raw, threadId }
  }
  const all = (code: string, methods: readonly Method[]) =>
    Object.fromEntries(methods.map((method) => [method, code]))

  const aboutThread = (threadId: string) =>
    [
      ['thread/read', { threadId }],
      ['thread/turns/list', { threadId }],
      ['thread/queue/list', { threadId }],
      ['thread/goal/get', { threadId }],
      ['thread/resume', { threadId, excludeTurns: true }],
      ['thread/section/move', { threadId, sectionId: null }],
      ['thread/settings/update', { threadId, approvalPolicy: 'never' }],
      ['thread/name/set', { threadId, name: 'n' }],
      ['turn/start', { threadId, input }],
      ['turn/steer', { threadId, expectedTurnId: nobody, input }],
      ['thread/queue/add', { threadId, input, clientUserMessageId: '' }],
    ] as const satisfies readonly (readonly [Method, object])[]

  test.each([
    ['an unknown id', nobody],
    ['an id that is none', 'nonsense'],
  ])('%s: thread_not_found, whatever the method', async (_, threadId) => {
    const cases = aboutThread(threadId)
    const methods = cases.map(([method]) => method)
    expect(await refusals<Method>(cases.map(([method, params]) => [method, params]))).toEqual(
      all('thread_not_found', methods),
    )
  })

  test('a list of turns before the first one: thread_not_materialized', async () => {
    const appServer = client(world.appServer.socketPath)
    const { thread } = await appServer.actions.call('thread/start', { ...start, cwd: world.cwd })
    const threadId = thread.id
    expect(await codeOf(appServer, 'thread/turns/list', { threadId })).toBe('thread_not_materialized')
    await (
      await world.openClient()
    )
      .call('thread/read', { threadId, includeTurns: true })
      .catch(() => undefined)
    expect(await codeOf(appServer, 'thread/turns/list', { threadId })).toBe('thread_not_materialized')
    expect(await codeOf(appServer, 'thread/items/list', { threadId })).toBe('app_server_error')
  })

  test('an archived thread: thread_archived', async () => {
    const { raw, threadId } = await finishedThread()
    await raw.call('thread/archive', { threadId })
    const appServer = client(world.appServer.socketPath)
    expect(await codeOf(appServer, 'thread/resume', { threadId, excludeTurns: true })).toBe('thread_archived')
    expect(await codeOf(appServer, 'thread/queue/list', { threadId })).toBe('thread_archived')
    expect(await codeOf(appServer, 'thread/queue/add', { threadId, input, clientUserMessageId: '' })).toBe(
      'thread_archived',
    )
  })

  test('a cursor of its own invention: invalid_cursor', async () => {
    const { threadId } = await finishedThread()
    const cursor = 'nope'
    const lists = [
      ['thread/list', { cursor }],
      ['thread/loaded/list', { cursor }],
      ['thread/turns/list', { threadId, cursor }],
      ['thread/items/list', { threadId, cursor }],
      ['thread/queue/list', { threadId, cursor }],
      ['permissionProfile/list', { cursor }],
    ] as const
    expect(await refusals<Method>(lists.map(([method, params]) => [method, params]))).toEqual(
      all(
        'invalid_cursor',
        lists.map(([method]) => method),
      ),
    )
  })

  test('an unknown project: unknown_project', async () => {
    const projectId = 'nope'
    expect(
      await refusals<'project/read' | 'thread/start'>([
        ['project/read', { projectId }],
        ['thread/start', { ...start, cwd: world.cwd, projectId }],
      ]),
    ).toEqual(all('unknown_project', ['project/read', 'thread/start']))
  })

  test('a message over 1,048,576 characters: input_too_large', async () => {
    const { threadId } = await finishedThread()
    const long = [{ type: 'text' as const, text: 'x'.repeat(1_048_577) }]
    const call = client(world.appServer.socketPath).actions.call('turn/start', { threadId, input: long })
    expect(await rejection(call)).toMatchObject({
      code: 'input_too_large',
      next: 'fix_call',
      rpc: { code: -32602, data: { max_chars: 1_048_576, actual_chars: 1_048_577 } },
    })
  })

  test('everything else: app_server_error, with its own words', async () => {
    const { threadId } = await finishedThread()
    const appServer = client(world.appServer.socketPath)
    expect(await rejection(appServer.actions.call('thread/name/set', { threadId, name: ' ' }))).toMatchObject(
      {
        code: 'app_server_error',
        next: 'new_request_id',
        message: 'thread/name/set: thread name must not be empty',
        rpc: { code: -32600, message: 'thread name must not be empty' },
        details: {
          method: 'thread/name/set',
          rpc: { code: -32600, message: 'thread name must not be empty' },
        },
      },
    )
    expect(await codeOf(appServer, 'turn/steer', { threadId, expectedTurnId: nobody, input })).toBe(
      'app_server_error',
    )
    expect(await codeOf(appServer, 'thread/list', { sortKey: 'bogus' })).toBe('app_server_error')
  })

  test('a thread that another App Server writes: thread_owned_elsewhere', async () => {
    const { threadId } = await finishedThread()
    const second = await startAppServer({
      version,
      home: world.home,
      socketPath: `${world.home.path}/second.sock`,
    })
    onTestFinished(() => second.stop())
    const call = client(second.socketPath).actions.call('thread/resume', { threadId, excludeTurns: true })
    expect(await rejection(call)).toMatchObject({
      code: 'thread_owned_elsewhere',
      rpc: { message: `thread ${threadId} already has an active writer` },
    })
  })
})

test('a turn while the App Server drains: server_shutting_down', async () => {
  const world = await startWorld({ version: NEWEST_CODEX })
  onTestFinished(() => world.close())
  const held = holdReply()
  world.model.reply(held)
  const raw = await world.openClient()
  const threadId = await raw.startThread({ cwd: world.cwd })
  await raw.startTurn(threadId, 'hello')
  await held.waitHeld()
  const appServer = client(world.appServer.socketPath)
  const other = await appServer.actions.call('thread/start', { ...start, cwd: world.cwd })
  process.kill(world.appServer.pid, 'SIGTERM')
  const error = await soon(() =>
    rejection(appServer.actions.call('turn/start', { threadId: other.thread.id, input })),
  ).toMatchObject({ code: 'server_shutting_down', next: 'same_request_id' })
  held.release()
  return error
})

describe('words that no tested App Server says', () => {
  test.each([
    [
      'thread/queue/add',
      { code: -32600, message: 'Invalid request: unknown variant `thread/queue/add`, expected one of `a`' },
      'method_unavailable',
    ],
    [
      'thread/list',
      { code: -32600, message: 'Invalid request: unknown variant `x`, expected one of `a`' },
      'app_server_error',
    ],
    [
      'turn/start',
      { code: -32603, message: 'busy', data: { codexErrorInfo: 'serverOverloaded' } },
      'server_overloaded',
    ],
    ['turn/start', { code: -32600, message: 'session x is archived.' }, 'thread_archived'],
    [
      'project/read',
      { code: -32600, message: 'project/read requires experimentalApi capability' },
      'app_server_error',
    ],
    ['thread/list', { code: -32603, message: 'oops', data: null }, 'app_server_error'],
  ])('%s %o', (method, rpc, code) => {
    expect(appServerError(method, rpc)).toMatchObject({ code, rpc, message: `${method}: ${rpc.message}` })
  })
})
