import { at, NEWEST_CODEX, startWorld } from '@codex-thread-bridge/test-fixtures'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { WebSocket } from 'ws'
import { aThread, aTurn, client, fakeServer, rejection, type Request, soon } from './support.ts'

const MiB = 1024 * 1024
const page = { data: [], nextCursor: null }
const message = (text: string) => ({ threadId: 't', input: [{ type: 'text' as const, text }] })

/** Answers with a frame of so many bytes. */
const sendBytes = (socket: WebSocket, { id }: Request, bytes: number): void => {
  const head = `{"id":${id},"result":{"data":[],"padding":"`
  socket.send(`${head}${'x'.repeat(bytes - head.length - 3)}"}}`)
}

/** Pages of more than `most` rows do not fit into a frame. */
const serverOfLongRows = (most: number) =>
  fakeServer((request, socket) => {
    if (request.method === 'thread/read') return { thread: aThread }
    const limit = at(request.params, 'limit') ?? 25
    if (typeof limit === 'number' && limit <= most) return page
    sendBytes(socket, request, 64 * MiB + 1)
    return undefined
  })

describe('frames that make no sense', () => {
  test('are counted and logged without their content, and harm nothing', async () => {
    const server = await fakeServer(({ id }, socket) => {
      for (const frame of ['secret', '[]', 'null', '{}', '{"id":{}}', `{"id":${id}}`]) socket.send(frame)
      socket.send(Buffer.from('{"method":"secret"}'), { binary: true })
      socket.send(Buffer.from([0x7b, 0xff, 0x7d]), { binary: false })
      socket.send(JSON.stringify({ id: 4711, result: 'secret' }))
      socket.send(JSON.stringify({ id: 'one', error: { code: 1, message: 'secret' } }))
      return page
    })
    const appServer = client(server.socketPath)
    const heard: string[] = []
    appServer.reads.onNotification(({ method }) => void heard.push(method))
    expect(await appServer.reads.call('thread/list', {})).toEqual(page)
    expect(await appServer.reads.call('thread/list', {})).toEqual(page)
    const dropped = appServer.logged('transport.message_dropped')
    expect(dropped.map(({ reason, count }) => `${String(reason)} ${String(count)}`).slice(0, 10)).toEqual([
      ...[1, 2, 3, 4, 5, 6].map((count) => `unparsable ${count}`),
      'binary 1',
      'unparsable 7',
      'unknownId 1',
      'unknownId 2',
    ])
    expect(dropped).toHaveLength(20)
    expect(dropped[0]).toEqual({ connection: 'reads', reason: 'unparsable', count: 1, bytes: 6 })
    expect(JSON.stringify(appServer.lines)).not.toContain('secret')
    expect(heard).toEqual([])
    expect(appServer.logged('transport.connected')).toHaveLength(1)
  })

  test('answer nobody twice', async () => {
    const server = await fakeServer(({ id }, socket) => {
      socket.send(JSON.stringify({ id, result: page }))
      return page
    })
    const appServer = client(server.socketPath)
    await appServer.reads.call('thread/list', {})
    await soon(() => appServer.logged('transport.message_dropped')).toEqual([
      { connection: 'reads', reason: 'unknownId', count: 1 },
    ])
  })
})

describe('answers that do not fit the method table', () => {
  test.each([
    ['a wrong type', { thread: { ...aThread, cwd: 7 } }, 'thread.cwd', 'thread.cwd must be string'],
    ['a missing member', {}, '', 'the answer must have required properties thread'],
  ])('name the method and the field: %s', async (_, answer, field, words) => {
    const server = await fakeServer(() => answer)
    const call = client(server.socketPath).reads.call('thread/read', { threadId: 't' })
    expect(await rejection(call)).toMatchObject({
      code: 'unexpected_answer',
      delivery: 'unknown',
      message: `thread/read was answered in an unknown shape: ${words}.`,
      details: { method: 'thread/read', field },
    })
  })

  test('may have members that the table does not know', async () => {
    const server = await fakeServer(() => ({ thread: { ...aThread, mood: 'good' }, more: 1 }))
    const { thread } = await client(server.socketPath).reads.call('thread/read', { threadId: 't' })
    expect(thread).toEqual({ ...aThread, mood: 'good' })
  })

  test('are not handed on when they come late, and neither are late errors', async () => {
    const server = await fakeServer()
    const appServer = client(server.socketPath, { timeouts: { 'turn/start': 20 } })
    const late: unknown[] = []
    const onLateAnswer = (answer: unknown) => void late.push(answer)
    for (let n = 0; n < 3; n += 1) {
      const call = appServer.actions.call('turn/start', message('hello'), { onLateAnswer })
      expect(await rejection(call)).toMatchObject({ code: 'request_timeout', delivery: 'unknown' })
    }
    const send = (answer: object) => server.socket().send(JSON.stringify(answer))
    send({ id: 2, result: { turn: 'strange' } })
    send({ id: 3, error: { code: -32600, message: 'no' } })
    send({ id: 4, result: { turn: aTurn } })
    await soon(() => late).toEqual([{ turn: aTurn }])
    expect(appServer.logged('transport.late_answer')).toHaveLength(3)
  })
})

describe('frames of the App Server', () => {
  test('are read up to 64 MiB', async () => {
    const server = await fakeServer((request, socket) => sendBytes(socket, request, 64 * MiB))
    const answer = await client(server.socketPath).reads.call('thread/list', {})
    expect(answer).toMatchObject({ data: [] })
  })

  test('that are longer make a list shorter by half, until it fits', async () => {
    const server = await serverOfLongRows(12)
    const appServer = client(server.socketPath)
    const answer = await appServer.reads.call('thread/turns/list', {
      threadId: 't',
      limit: 100,
      itemsView: 'full',
    })
    expect(answer).toEqual(page)
    expect(server.asked('thread/turns/list')).toEqual(
      [100, 50, 25, 12].map((limit) => ({ threadId: 't', limit, itemsView: 'full' })),
    )
  })

  test('that are longer than a list without a limit may be halve the App Server’s own', async () => {
    const server = await serverOfLongRows(12)
    expect(await client(server.socketPath).reads.call('thread/list', {})).toEqual(page)
    expect(server.asked('thread/list')).toEqual([{}, { limit: 12 }])
  })

  test('that hold one row are too large', async () => {
    const server = await serverOfLongRows(0)
    const call = client(server.socketPath).reads.call('thread/items/list', { threadId: 't', limit: 2 })
    expect(await rejection(call)).toMatchObject({
      code: 'result_too_large',
      message: 'The answer to thread/items/list is over 64 MiB.',
    })
    expect(server.asked('thread/items/list')).toEqual([
      { threadId: 't', limit: 2 },
      { threadId: 't', limit: 1 },
    ])
  })

  test('that hold no list are too large at once', async () => {
    const server = await fakeServer((request, socket) => sendBytes(socket, request, 64 * MiB + 1))
    const call = client(server.socketPath).reads.call('thread/read', { threadId: 't' })
    expect(await rejection(call)).toMatchObject({ code: 'result_too_large' })
    expect(server.asked('thread/read')).toHaveLength(1)
  })

  test('that are too long do not fail the other reads of the connection', async () => {
    const server = await serverOfLongRows(12)
    const appServer = client(server.socketPath)
    await appServer.reads.connect()
    const [list, ...reads] = await Promise.all([
      appServer.reads.call('thread/list', { limit: 100 }),
      ...Array.from({ length: 5 }, () => appServer.reads.call('thread/read', { threadId: 't' })),
      appServer.reads.call('thread/loaded/list', { limit: 12 }),
    ])
    expect(list).toEqual(page)
    expect(reads).toEqual([...Array.from({ length: 5 }, () => ({ thread: aThread })), page])
    expect(server.asked('thread/list').map((params) => at(params, 'limit'))).toEqual([100, 100, 50, 25, 12])
    expect(new Set(server.asked('thread/loaded/list').map((params) => at(params, 'limit')))).toEqual(
      new Set([12]),
    )
  })

  test('that are too long and late do not fail a read that waits alone', async () => {
    let timedOut: Request | undefined
    const server = await fakeServer((request, socket) => {
      if (request.method === 'thread/list') timedOut = request
      else if (timedOut === undefined) return { thread: aThread }
      else {
        sendBytes(socket, timedOut, 64 * MiB + 1)
        timedOut = undefined
      }
      return undefined
    })
    const { reads } = client(server.socketPath, { timeouts: { 'thread/list': 20 } })
    expect(await rejection(reads.call('thread/list', {}))).toMatchObject({ code: 'request_timeout' })
    expect(await reads.call('thread/read', { threadId: 't' })).toEqual({ thread: aThread })
    expect(server.asked('thread/read')).toHaveLength(2)
  })

  test('that are too long lose a mutation, which is not sent again', async () => {
    const server = await fakeServer((request, socket) => sendBytes(socket, request, 64 * MiB + 1))
    expect(
      await rejection(client(server.socketPath).actions.call('turn/start', message('hello'))),
    ).toMatchObject({
      code: 'connection_lost',
      delivery: 'unknown',
    })
    expect(server.asked('turn/start')).toHaveLength(1)
  })
})

describe('messages to the App Server', () => {
  test('are sent up to 8 MiB and refused above, by their bytes', async () => {
    const server = await fakeServer(() => ({ turn: aTurn }))
    const { actions } = client(server.socketPath)
    // initialize took the id 1.
    const around = Buffer.byteLength(JSON.stringify({ id: 2, method: 'turn/start', params: message('') }))
    const fits = message('x'.repeat(8 * MiB - around))
    expect(await actions.call('turn/start', fits)).toEqual({ turn: aTurn })
    const tooLarge = { code: 'message_too_large', delivery: 'not_sent', next: 'fix_call' }
    expect(
      await rejection(actions.call('turn/start', message('x'.repeat(8 * MiB - around + 1)))),
    ).toMatchObject({
      ...tooLarge,
      message: `turn/start would be a message of ${8 * MiB + 1} bytes.`,
    })
    expect(await rejection(actions.call('turn/start', message('ü'.repeat(4 * MiB))))).toMatchObject(tooLarge)
    expect(await rejection(actions.call('turn/start', message('x'.repeat(65 * MiB))))).toMatchObject(tooLarge)
    expect(server.asked('turn/start')).toEqual([fits])
    expect(await actions.call('turn/start', message('hello'))).toEqual({ turn: aTurn })
  })

  test('of nearly 8 MiB do not end the connection to the real App Server', async () => {
    const world = await startWorld({ version: NEWEST_CODEX })
    onTestFinished(() => world.close())
    const appServer = client(world.appServer.socketPath)
    const start = { cwd: world.cwd, approvalPolicy: 'never', ephemeral: false }
    const { thread } = await appServer.actions.call('thread/start', start)
    const long = message('x'.repeat(8 * MiB - 200))
    const call = appServer.actions.call('turn/start', { ...long, threadId: thread.id })
    expect(await rejection(call)).toMatchObject({ code: 'input_too_large', next: 'fix_call' })
    expect(await appServer.actions.call('thread/list', {})).toMatchObject({ data: [] })
    expect(appServer.logged('transport.connected')).toHaveLength(1)
  })
})
