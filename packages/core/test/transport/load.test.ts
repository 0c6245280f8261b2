import { NEWEST_CODEX, startWorld, type World } from '@codex-thread-bridge/test-fixtures'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'
import { createSlots } from '../../src/transport/slots.ts'
import { client, fakeServer, rejection, type Request, soon } from './support.ts'

const page = { data: [], nextCursor: null }

describe('calls that come together', () => {
  test('are sent 32 at once, the others in their order as answers come', async () => {
    const asked: Request[] = []
    const server = await fakeServer((request) => void asked.push(request))
    const { reads } = client(server.socketPath)
    const calls = Array.from({ length: 40 }, (_, limit) => reads.call('thread/list', { limit }))
    await soon(() => asked.length).toBe(32)
    const answer = (request: Request | undefined) =>
      server.socket().send(JSON.stringify({ id: request?.id, result: page }))
    answer(asked[20])
    await calls[20]
    await soon(() => asked.length).toBe(33)
    for (const request of asked.filter((_, n) => n !== 20)) answer(request)
    await soon(() => asked.length).toBe(40)
    for (const request of asked.slice(33)) answer(request)
    expect(await Promise.all(calls)).toEqual(calls.map(() => page))
    expect(asked.map(({ params }) => params)).toEqual(calls.map((_, limit) => ({ limit })))
  })

  test('can be cancelled while they wait, and are not sent then', async () => {
    const asked: Request[] = []
    const server = await fakeServer((request) => void asked.push(request))
    const { reads } = client(server.socketPath)
    const first = Array.from({ length: 32 }, () => reads.call('thread/list', {}))
    await soon(() => asked.length).toBe(32)
    const cancel = new AbortController()
    const waiting = rejection(reads.call('thread/loaded/list', {}, { signal: cancel.signal }))
    const behind = reads.call('thread/list', { limit: 7 })
    cancel.abort()
    expect(await waiting).toMatchObject({ code: 'cancelled', delivery: 'not_sent' })
    const answer = (request: Request | undefined) =>
      server.socket().send(JSON.stringify({ id: request?.id, result: page }))
    for (const request of asked) answer(request)
    await Promise.all(first)
    await soon(() => asked.length).toBe(33)
    answer(asked[32])
    expect(await behind).toEqual(page)
    expect(server.asked('thread/loaded/list')).toEqual([])
  })
})

describe('slots', () => {
  test('go to those who wait in their order; who left takes none', async () => {
    const slots = createSlots(1)
    const cancel = new AbortController()
    expect(await slots.take()).toBe(true)
    const second = slots.take(cancel.signal)
    const third = slots.take()
    cancel.abort()
    expect(await second).toBe(false)
    slots.release()
    expect(await third).toBe(true)
    slots.release()
    expect(await slots.take(AbortSignal.abort())).toBe(false)
    expect(await slots.take()).toBe(true)
  })
})

describe('an App Server that is overloaded', () => {
  let world: World
  beforeAll(async () => {
    world = await startWorld({ version: NEWEST_CODEX })
  })
  afterEach(() => world.proxy.clear())
  afterAll(() => world.close())

  const overloaded = { respond: { error: { code: -32001, message: 'Server overloaded; retry later.' } } }

  /** A clock that notes the pauses between calls instead of waiting. */
  const noting = () => {
    const pauses: number[] = []
    const sleep = (ms: number, signal?: AbortSignal) =>
      ms > 1_000 ? systemClock.sleep(ms, signal) : Promise.resolve(void pauses.push(ms))
    return { pauses, clock: { ...systemClock, sleep } }
  }

  test('is asked again by a read, after pauses that double and vary', async () => {
    const { pauses, clock } = noting()
    const before = world.proxy.sent('thread/list').length
    world.proxy.on({ method: 'thread/list', kind: 'request', times: 3 }, overloaded)
    const appServer = client(world.socketPath, { clock, random: () => 0.25 })
    expect(await appServer.reads.call('thread/list', {})).toMatchObject({ data: [] })
    expect(pauses).toEqual([75, 150, 300])
    expect(world.proxy.sent('thread/list')).toHaveLength(before + 4)
  })

  test('is told to the caller when it still is after three times', async () => {
    const { pauses, clock } = noting()
    const before = world.proxy.sent('thread/list').length
    world.proxy.on({ method: 'thread/list', kind: 'request', times: 9 }, overloaded)
    const { reads } = client(world.socketPath, { clock, random: () => 0.5 })
    expect(await rejection(reads.call('thread/list', {}))).toMatchObject({
      code: 'server_overloaded',
      next: 'same_request_id',
      rpc: { code: -32001, message: 'Server overloaded; retry later.' },
    })
    expect(pauses).toEqual([100, 200, 400])
    expect(world.proxy.sent('thread/list')).toHaveLength(before + 4)
  })

  test('is not asked again by a mutation', async () => {
    const before = world.proxy.sent('turn/start').length
    world.proxy.on({ method: 'turn/start', kind: 'request' }, overloaded)
    const call = client(world.socketPath).actions.call('turn/start', { threadId: 't', input: [] })
    expect(await rejection(call)).toMatchObject({ code: 'server_overloaded' })
    expect(world.proxy.sent('turn/start')).toHaveLength(before + 1)
  })

  test('lets a read be cancelled during the pause', async () => {
    const cancel = new AbortController()
    const sleep = (ms: number, signal?: AbortSignal) => {
      if (ms < 1_000) queueMicrotask(() => cancel.abort())
      return systemClock.sleep(ms, signal)
    }
    world.proxy.on({ method: 'thread/list', kind: 'request' }, overloaded)
    const { reads } = client(world.socketPath, { clock: { ...systemClock, sleep } })
    const call = reads.call('thread/list', {}, { signal: cancel.signal })
    expect(await rejection(call)).toMatchObject({ code: 'cancelled' })
  })

  test('exists: the real one refuses what does not fit into its queue', async () => {
    const other = await startWorld({ version: '0.153.4' })
    onTestFinished(() => other.close())
    const raw = await other.openClient()
    const answers = await Promise.allSettled(
      Array.from({ length: 2_000 }, () => raw.call('thread/loaded/list')),
    )
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [String(answer.reason)] : []))
    expect(new Set(refused)).toEqual(
      new Set(['RpcError: thread/loaded/list: Server overloaded; retry later.']),
    )
  })
})
