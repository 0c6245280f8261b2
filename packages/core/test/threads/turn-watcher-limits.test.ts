import { getEventListeners } from 'node:events'
import { beforeEach, describe, expect, it } from 'vitest'
import { AppServerError, TransportError } from '../../src/contract/errors.ts'
import { settled } from './fake-clock.ts'
import { completed, idle, turn } from './fake-thread.ts'
import { startWatching } from './watching.ts'

const lost = () => new TransportError('connection_lost', 'gone', 'unknown')

let world = startWatching()
beforeEach(() => {
  world = startWatching()
})

describe('the time-out of a wait', () => {
  it('answers with the turn as seen last', async () => {
    world.thread.turns = [turn('a')]
    const state = world.wait('a', 2_500)
    await world.clock.advance(2_499)
    expect(state.outcome).toBeUndefined()
    await world.clock.advance(1)
    expect(state).toEqual({ outcome: { timedOut: true, turn: turn('a') }, afterMs: 2_500 })
    await world.expectQuiet()
  })

  it('answers without a turn that never showed up', async () => {
    world.thread.status = idle
    world.thread.turns = [completed('b')]
    const state = world.wait('a', 20_000)
    await world.clock.advance(20_000)
    expect(state).toEqual({ outcome: { timedOut: true, turn: undefined }, afterMs: 20_000 })
  })

  it('of 0 looks once', async () => {
    world.thread.turns = [turn('a')]
    const state = world.wait('a', 0)
    await settled()
    expect(state).toEqual({ outcome: { timedOut: true, turn: turn('a') }, afterMs: 0 })
    expect(world.thread.calls).toEqual(['thread/read', 'thread/turns/list'])
    await world.expectQuiet()
  })

  it('of 0 looks after the call came, even while another look is under way', async () => {
    let open = (): void => undefined
    world.thread.gate = new Promise((resolve) => (open = resolve))
    world.wait('a')
    await settled()
    world.thread.turns = [turn('b')]
    const state = world.wait('b', 0)
    open()
    await settled()
    expect(state.outcome).toEqual({ timedOut: true, turn: turn('b') })
    expect(world.thread.count('thread/turns/list')).toBe(2)
  })

  it('never lies beyond the call budget', async () => {
    world.thread.turns = [turn('a')]
    const state = world.wait('a', 50_000, world.thread.context({ deadline: world.clock.now() + 7_000 }))
    await world.clock.advance(7_000)
    expect(state).toMatchObject({ outcome: { timedOut: true }, afterMs: 7_000 })
  })

  it('waits for the first look, and for no longer than the call budget', async () => {
    world.thread.gate = new Promise(() => undefined)
    const state = world.wait('a', 1_000)
    await world.clock.advance(49_999)
    expect(state.error).toBeUndefined()
    await world.clock.advance(1)
    expect(state).toMatchObject({ error: { code: 'request_timeout' }, afterMs: 50_000 })
  })
})

describe('a server that cannot be reached', () => {
  it('is tried again until it answers', async () => {
    world.thread.turns = [turn('a')]
    const state = world.wait('a')
    await world.clock.advance(1_000)
    world.thread.fault = lost()
    world.thread.lose()
    await world.clock.advance(4_000)
    expect(state).toEqual({})
    world.thread.fault = undefined
    world.thread.turns = [completed('a')]
    await world.clock.advance(1_000)
    expect(state).toMatchObject({ outcome: { timedOut: false, turn: { status: 'completed' } } })
    await world.expectQuiet()
  })

  it('leaves what was seen last at the time-out', async () => {
    world.thread.turns = [turn('a')]
    const state = world.wait('a', 5_000)
    await world.clock.advance(1_000)
    world.thread.fault = lost()
    world.thread.lose()
    await world.clock.advance(4_000)
    expect(state).toEqual({ outcome: { timedOut: true, turn: turn('a') }, afterMs: 5_000 })
  })

  it('is the answer when it never was reached', async () => {
    world.thread.fault = new TransportError('socket_absent', 'no socket', 'not_sent')
    const state = world.wait('a', 3_000)
    await world.clock.advance(3_000)
    expect(state).toMatchObject({ error: { code: 'socket_absent' }, afterMs: 3_000 })
    await world.expectQuiet()
  })

  it('is the answer at once when one look was asked for', async () => {
    world.thread.fault = new TransportError('socket_absent', 'no socket', 'not_sent')
    const state = world.wait('a', 0)
    await settled()
    expect(state).toMatchObject({ error: { code: 'socket_absent' }, afterMs: 0 })
    await world.expectQuiet()
  })

  it('may be draining', async () => {
    world.thread.fault = new AppServerError('server_shutting_down', 'thread/read', {
      code: -32_600,
      message: 'draining',
    })
    const state = world.wait('a', 3_000)
    await world.clock.advance(1_000)
    world.thread.fault = undefined
    world.thread.turns = [completed('a')]
    await world.clock.advance(1_000)
    expect(state).toMatchObject({ outcome: { timedOut: false } })
  })
})

describe('what the App Server says of the thread', () => {
  it('is passed on', async () => {
    world.thread.fault = new AppServerError('thread_not_found', 'thread/read', {
      code: -32_600,
      message: 'thread not loaded',
    })
    const state = world.wait('a')
    await settled()
    expect(state).toMatchObject({ error: { code: 'thread_not_found' }, afterMs: 0 })
    await world.expectQuiet()
  })

  it('is asked for again while its first turn begins', async () => {
    const empty = { code: -32_603, message: 'failed to read thread: the rollout is empty' }
    world.thread.fault = new AppServerError('app_server_error', 'thread/read', empty)
    const state = world.wait('a', 0)
    await world.clock.advance(30)
    world.thread.fault = undefined
    world.thread.turns = [completed('a')]
    await world.clock.advance(5)
    expect(state).toMatchObject({ outcome: { timedOut: false }, afterMs: 35 })
  })

  it('is passed on when it stays as it is', async () => {
    const broken = { code: -32_603, message: 'failed to read thread: the rollout is broken' }
    world.thread.fault = new AppServerError('app_server_error', 'thread/read', broken)
    const state = world.wait('a')
    await world.clock.advance(1_435)
    expect(state).toMatchObject({ error: { code: 'app_server_error' }, afterMs: 1_435 })
    await world.expectQuiet()
  })

  it('may be that it has no turn yet', async () => {
    const context = world.thread.context()
    world.thread.status = idle
    const state = world.wait('a', 0, {
      ...context,
      call: (method, params) =>
        method === 'thread/turns/list'
          ? Promise.reject(
              new AppServerError('thread_not_materialized', method, { code: -32_600, message: '' }),
            )
          : context.call(method, params),
    })
    await settled()
    expect(state.outcome).toEqual({ timedOut: true, turn: undefined })
  })
})

describe('cancellation', () => {
  it('ends a wait at once', async () => {
    world.thread.turns = [turn('a')]
    const ctx = world.thread.context()
    const state = world.wait('a', 20_000, ctx)
    await world.clock.advance(1_000)
    ctx.cancel()
    await settled()
    expect(state).toMatchObject({ error: { code: 'cancelled' }, afterMs: 1_000 })
    await world.expectQuiet()
  })

  it('ends a wait that was cancelled before it began', async () => {
    const ctx = world.thread.context()
    ctx.cancel()
    const state = world.wait('a', 20_000, ctx)
    await settled()
    expect(state).toMatchObject({ error: { code: 'cancelled' } })
    expect(world.thread.calls).toEqual([])
    await world.expectQuiet()
  })

  it('of the wait that looks for all leaves the others waiting', async () => {
    const ctx = world.thread.context()
    const first = world.wait('a', 20_000, ctx)
    const second = world.wait('a')
    await settled()
    world.thread.gate = new Promise(() => undefined)
    world.thread.announce(idle)
    await settled()
    ctx.cancel()
    world.thread.gate = Promise.resolve()
    world.thread.turns = [completed('a')]
    await world.clock.advance(0)
    expect(first).toMatchObject({ error: { code: 'cancelled' } })
    expect(second).toMatchObject({ outcome: { timedOut: false }, afterMs: 0 })
    await world.expectQuiet()
  })
})

it('every wait ends when the watcher is closed', async () => {
  world.thread.turns = [turn('a')]
  const states = [world.wait('a'), world.wait('b')]
  await world.clock.advance(1_000)
  world.watcher.close()
  await settled()
  expect(states).toMatchObject([{ error: { code: 'host_state' } }, { error: { code: 'host_state' } }])
  await world.expectQuiet()
})

it('a wait that has ended listens to no cancellation any more', async () => {
  const ctx = world.thread.context({ call: () => Promise.reject(lost()) })
  const listeners = () => getEventListeners(ctx.signal, 'abort').length
  world.wait('a', 1_000, ctx)
  await settled()
  expect(listeners()).toBe(1)
  await world.clock.advance(1_000)
  expect(listeners()).toBe(0)
})

describe('200 waits at once', () => {
  it('share one observer, one look at a time and one message', async () => {
    world.thread.turns = [turn('a')]
    const states = Array.from({ length: 200 }, () => world.wait('a'))
    await world.clock.advance(1_000)
    expect(world.thread.listeners).toBe(1)
    expect(world.thread.calls.length).toBeLessThanOrEqual(4)
    const before = world.thread.calls.length
    world.thread.turns = [completed('a')]
    world.thread.announce(idle)
    await settled()
    expect(states.every(({ outcome }) => outcome?.turn?.status === 'completed')).toBe(true)
    expect(world.thread.calls.slice(before)).toEqual(['thread/turns/list', 'thread/items/list'])
    await world.expectQuiet()
  })

  it('end one by one at their own time-outs', async () => {
    world.thread.turns = [turn('a')]
    const states = Array.from({ length: 200 }, (_, n) => world.wait('a', 1_000 + n))
    await world.clock.advance(1_099)
    expect(states.filter(({ outcome }) => outcome !== undefined).length).toBe(100)
    await world.clock.advance(100)
    expect(states.map(({ afterMs }) => afterMs)).toEqual(states.map((_, n) => 1_000 + n))
    await world.expectQuiet()
  })
})
