import { beforeEach, describe, expect, it } from 'vitest'
import { AppServerError, TransportError } from '../../src/contract/errors.ts'
import { createTurnWatcher } from '../../src/threads/turn-watcher.ts'
import type { WaitOutcome } from '../../src/threads/waiter.ts'
import { fakeClock, settled } from './fake-clock.ts'
import { active, completed, cutOff, fakeThread, idle, threadId, turn } from './fake-thread.ts'

const message = { type: 'agentMessage', id: 'item-2', text: 'done' }
const lost = () => new TransportError('connection_lost', 'gone', 'unknown')

let clock = fakeClock()
let thread = fakeThread(clock)
let watcher = createTurnWatcher()
beforeEach(() => {
  clock = fakeClock()
  thread = fakeThread(clock)
  watcher = createTurnWatcher()
})

/** A wait and what has become of it. */
const wait = (turnId: string, timeoutMs = 20_000, ctx = thread.context()) => {
  const begun = clock.now()
  const state: { outcome?: WaitOutcome; error?: unknown; afterMs?: number } = {}
  watcher.wait(ctx, { threadId, turnId, timeoutMs }).then(
    (outcome) => Object.assign(state, { outcome, afterMs: clock.now() - begun }),
    (error: unknown) => Object.assign(state, { error, afterMs: clock.now() - begun }),
  )
  return { state, cancel: ctx.cancel }
}

/** Nothing is left behind: no timer, no listener, no further call. */
const expectQuiet = async () => {
  const calls = thread.calls.length
  expect(clock.sleeping).toBe(0)
  expect(thread.listeners).toBe(0)
  await clock.advance(60_000)
  expect(thread.calls.length).toBe(calls)
}

describe('a wait for a turn that is over', () => {
  it('answers at the first look, with the last agent message', async () => {
    thread.turns = [completed('a')]
    thread.messages = {
      a: [{ type: 'reasoning', id: 'item-3' }, message, { type: 'agentMessage', id: 'item-1' }],
    }
    const { state } = wait('a')
    await settled()
    expect(state.outcome).toEqual({
      timedOut: false,
      turn: { ...completed('a'), items: [message], itemsView: 'summary' },
    })
    expect(thread.calls).toEqual(['thread/read', 'thread/turns/list', 'thread/items/list'])
    await expectQuiet()
  })

  it('passes a failure on as it is', async () => {
    const failed = turn('a', { status: 'failed', error: { message: 'model is gone' } })
    thread.turns = [failed]
    const { state } = wait('a')
    await settled()
    expect(state.outcome).toEqual({ timedOut: false, turn: failed })
  })

  it('finds the message of a thread with the older history in the summary', async () => {
    thread.turns = [completed('b'), { ...completed('a'), items: [message] }]
    const context = thread.context()
    const { state } = wait('a', 20_000, {
      ...context,
      call: (method, params) =>
        method === 'thread/items/list'
          ? Promise.reject(
              new AppServerError('app_server_error', method, { code: -32_601, message: 'not supported yet' }),
            )
          : context.call(method, params),
    })
    await settled()
    expect(state.outcome?.turn?.items).toEqual([message])
  })
})

describe('a wait for a running turn', () => {
  it('costs one look and one message when the thread says that it is idle', async () => {
    thread.turns = [turn('a')]
    const { state } = wait('a')
    await clock.advance(5_000)
    expect(thread.calls).toEqual(['thread/read', 'thread/turns/list'])
    thread.turns = [completed('a')]
    thread.announce(idle)
    await settled()
    expect(state).toMatchObject({
      outcome: { timedOut: false, turn: { status: 'completed' } },
      afterMs: 5_000,
    })
    expect(thread.calls.slice(2)).toEqual(['thread/turns/list', 'thread/items/list'])
    await expectQuiet()
  })

  it('sees an end that came without a broadcast at the safety look', async () => {
    thread.turns = [turn('a')]
    const { state } = wait('a')
    await clock.advance(100)
    thread.turns = [completed('a')]
    thread.status = idle
    await clock.advance(14_899)
    expect(state.outcome).toBeUndefined()
    await clock.advance(1)
    expect(state).toMatchObject({ outcome: { turn: { status: 'completed' } }, afterMs: 15_000 })
  })

  it('looks again at once after the connection was lost', async () => {
    thread.turns = [turn('a')]
    const { state } = wait('a')
    await clock.advance(3_000)
    thread.turns = [completed('a')]
    thread.lose()
    await settled()
    expect(state).toMatchObject({ outcome: { turn: { status: 'completed' } }, afterMs: 3_000 })
  })

  it('reads a failure that shows up some milliseconds after the event', async () => {
    thread.turns = [turn('a')]
    const { state } = wait('a')
    await clock.advance(1_000)
    thread.turns = [cutOff('a')]
    thread.announce({ type: 'systemError' })
    await clock.advance(9)
    expect(state.outcome).toBeUndefined()
    thread.turns = [turn('a', { status: 'failed', error: { message: 'model is gone' } })]
    await clock.advance(1)
    expect(state).toMatchObject({ outcome: { turn: { status: 'failed' } }, afterMs: 1_010 })
  })

  it('is not ended by another turn', async () => {
    thread.turns = [turn('a')]
    const { state } = wait('b')
    thread.turns = [completed('a')]
    thread.announce(idle)
    await clock.advance(1_000)
    expect(state.outcome).toBeUndefined()
    thread.turns = [turn('b'), completed('a')]
    thread.announce(active)
    await clock.advance(1_000)
    thread.turns = [completed('b'), completed('a')]
    thread.announce(idle)
    await settled()
    expect(state).toMatchObject({ outcome: { timedOut: false, turn: { id: 'b' } } })
  })

  it('pays no heed to other threads', async () => {
    thread.turns = [turn('a')]
    wait('a')
    await clock.advance(100)
    const calls = thread.calls.length
    thread.announce(idle, 'thread-2')
    await settled()
    expect(thread.calls.length).toBe(calls)
  })

  it('ends when the thread needs a person', async () => {
    thread.turns = [turn('a')]
    const { state } = wait('a')
    await clock.advance(2_000)
    thread.announce({ type: 'active', activeFlags: ['waitingOnApproval'] })
    await settled()
    expect(state).toEqual({
      outcome: { timedOut: false, turn: turn('a'), attention: ['waitingOnApproval'] },
      afterMs: 2_000,
    })
    await expectQuiet()
  })

  it('tells how far it is', async () => {
    const told: string[] = []
    thread.turns = [turn('a')]
    wait('a', 20_000, thread.context({ progress: (text) => told.push(text) }))
    await settled()
    thread.turns = []
    thread.announce({ type: 'systemError' })
    await settled()
    expect(told).toEqual(['turn inProgress, thread active', 'turn not observed, thread systemError'])
  })
})

describe('a turn that reads as interrupted without an end', () => {
  it('is looked at again after 10, 25, 50, 100, 250 and 1,000 ms, and believed when a second has passed', async () => {
    thread.status = idle
    thread.turns = [cutOff('a')]
    const { state } = wait('a')
    const looks: number[] = []
    for (const ms of [0, 10, 25, 50, 100, 250, 1_000]) {
      expect(state.outcome).toBeUndefined()
      await clock.advance(ms)
      looks.push(thread.count('thread/turns/list'))
    }
    expect(looks).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(state).toMatchObject({
      outcome: { timedOut: false, turn: { status: 'interrupted' } },
      afterMs: 1_435,
    })
  })

  it('is not believed when it turns out to run', async () => {
    thread.status = idle
    thread.turns = [cutOff('a')]
    const { state } = wait('a')
    await clock.advance(40)
    thread.turns = [turn('a')]
    thread.announce(active)
    await clock.advance(10_000)
    expect(state.outcome).toBeUndefined()
    thread.turns = [completed('a')]
    thread.announce(idle)
    await settled()
    expect(state).toMatchObject({ outcome: { turn: { status: 'completed' } } })
  })

  it('is over at once when the server was started later', async () => {
    thread.status = { type: 'notLoaded' }
    thread.turns = [cutOff('a')]
    thread.server = {
      userAgent: 'x',
      version: '0.171.0',
      codexHome: null,
      socketMtimeNs: '1796058795000000000',
    }
    const { state } = wait('a', 0)
    await settled()
    expect(state).toMatchObject({ outcome: { timedOut: false, turn: { status: 'interrupted' } }, afterMs: 0 })
  })

  it('is asked for with a fresh status, never with one that was broadcast before', async () => {
    thread.turns = [cutOff('a')]
    wait('a')
    thread.announce(idle)
    await clock.advance(1_400)
    thread.status = active
    await clock.advance(5_000)
    expect(thread.count('thread/read')).toBe(7)
    expect(thread.count('thread/turns/list')).toBe(8)
  })
})

describe('the time-out of a wait', () => {
  it('answers with the turn as seen last', async () => {
    thread.turns = [turn('a')]
    const { state } = wait('a', 2_500)
    await clock.advance(2_499)
    expect(state.outcome).toBeUndefined()
    await clock.advance(1)
    expect(state).toEqual({ outcome: { timedOut: true, turn: turn('a') }, afterMs: 2_500 })
    await expectQuiet()
  })

  it('answers without a turn that never showed up', async () => {
    thread.status = idle
    thread.turns = [completed('b')]
    const { state } = wait('a', 20_000)
    await clock.advance(20_000)
    expect(state).toEqual({ outcome: { timedOut: true, turn: undefined }, afterMs: 20_000 })
  })

  it('of 0 looks once', async () => {
    thread.turns = [turn('a')]
    const { state } = wait('a', 0)
    await settled()
    expect(state).toEqual({ outcome: { timedOut: true, turn: turn('a') }, afterMs: 0 })
    expect(thread.calls).toEqual(['thread/read', 'thread/turns/list'])
    await expectQuiet()
  })

  it('of 0 looks after the call came, even while another look is under way', async () => {
    let open = (): void => undefined
    thread.gate = new Promise((resolve) => (open = resolve))
    wait('a')
    await settled()
    const { state } = wait('b', 0)
    thread.turns = []
    open()
    await settled()
    thread.turns = [completed('b')]
    expect(state.outcome).toMatchObject({ timedOut: true })
    expect(thread.count('thread/turns/list')).toBeGreaterThanOrEqual(2)
  })

  it('never lies beyond the call budget', async () => {
    thread.turns = [turn('a')]
    const { state } = wait('a', 50_000, thread.context({ deadline: clock.now() + 7_000 }))
    await clock.advance(7_000)
    expect(state).toMatchObject({ outcome: { timedOut: true }, afterMs: 7_000 })
  })

  it('waits for the first look, and for no longer than the call budget', async () => {
    thread.gate = new Promise(() => undefined)
    const { state } = wait('a', 1_000)
    await clock.advance(49_999)
    expect(state.error).toBeUndefined()
    await clock.advance(1)
    expect(state).toMatchObject({ error: { code: 'request_timeout' }, afterMs: 50_000 })
  })
})

describe('a server that cannot be reached', () => {
  it('is tried again until it answers', async () => {
    thread.turns = [turn('a')]
    const { state } = wait('a')
    await clock.advance(1_000)
    thread.fault = lost()
    thread.lose()
    await clock.advance(4_000)
    expect(state).toEqual({})
    thread.fault = undefined
    thread.turns = [completed('a')]
    await clock.advance(1_000)
    expect(state).toMatchObject({ outcome: { timedOut: false, turn: { status: 'completed' } } })
    await expectQuiet()
  })

  it('leaves what was seen last at the time-out', async () => {
    thread.turns = [turn('a')]
    const { state } = wait('a', 5_000)
    await clock.advance(1_000)
    thread.fault = lost()
    thread.lose()
    await clock.advance(4_000)
    expect(state).toEqual({ outcome: { timedOut: true, turn: turn('a') }, afterMs: 5_000 })
  })

  it('is the answer when it never was reached', async () => {
    thread.fault = new TransportError('socket_absent', 'no socket', 'not_sent')
    const { state } = wait('a', 3_000)
    await clock.advance(3_000)
    expect(state).toMatchObject({ error: { code: 'socket_absent' }, afterMs: 3_000 })
    await expectQuiet()
  })

  it('may be draining', async () => {
    thread.fault = new AppServerError('server_shutting_down', 'thread/read', {
      code: -32_600,
      message: 'draining',
    })
    const { state } = wait('a', 3_000)
    await clock.advance(1_000)
    thread.fault = undefined
    thread.turns = [completed('a')]
    await clock.advance(1_000)
    expect(state).toMatchObject({ outcome: { timedOut: false } })
  })
})

describe('what the App Server says of the thread', () => {
  it('is passed on', async () => {
    thread.fault = new AppServerError('thread_not_found', 'thread/read', {
      code: -32_600,
      message: 'thread not loaded',
    })
    const { state } = wait('a')
    await settled()
    expect(state).toMatchObject({ error: { code: 'thread_not_found' }, afterMs: 0 })
    await expectQuiet()
  })

  it('is asked for again while its first turn begins', async () => {
    const empty = { code: -32_603, message: 'failed to read thread: the rollout is empty' }
    thread.fault = new AppServerError('app_server_error', 'thread/read', empty)
    const { state } = wait('a', 0)
    await clock.advance(30)
    thread.fault = undefined
    thread.turns = [completed('a')]
    await clock.advance(5)
    expect(state).toMatchObject({ outcome: { timedOut: false }, afterMs: 35 })
  })

  it('is passed on when it stays as it is', async () => {
    const broken = { code: -32_603, message: 'failed to read thread: the rollout is broken' }
    thread.fault = new AppServerError('app_server_error', 'thread/read', broken)
    const { state } = wait('a')
    await clock.advance(1_435)
    expect(state).toMatchObject({ error: { code: 'app_server_error' }, afterMs: 1_435 })
    await expectQuiet()
  })

  it('may be that it has no turn yet', async () => {
    const context = thread.context()
    thread.status = idle
    const { state } = wait('a', 0, {
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
    thread.turns = [turn('a')]
    const { state, cancel } = wait('a')
    await clock.advance(1_000)
    cancel()
    await settled()
    expect(state).toMatchObject({ error: { code: 'cancelled' }, afterMs: 1_000 })
    await expectQuiet()
  })

  it('ends a wait that was cancelled before it began', async () => {
    const ctx = thread.context()
    ctx.cancel()
    const { state } = wait('a', 20_000, ctx)
    await settled()
    expect(state).toMatchObject({ error: { code: 'cancelled' } })
    expect(thread.calls).toEqual([])
    await expectQuiet()
  })

  it('of the wait that looks for all leaves the others waiting', async () => {
    let open = (): void => undefined
    thread.gate = new Promise((resolve) => (open = resolve))
    const first = wait('a')
    const second = wait('a')
    await settled()
    first.cancel()
    thread.turns = [completed('a')]
    open()
    await clock.advance(0)
    expect(first.state).toMatchObject({ error: { code: 'cancelled' } })
    expect(second.state).toMatchObject({ outcome: { timedOut: false }, afterMs: 0 })
    await expectQuiet()
  })
})

it('every wait ends when the watcher is closed', async () => {
  thread.turns = [turn('a')]
  const states = [wait('a').state, wait('b').state]
  await clock.advance(1_000)
  watcher.close()
  await settled()
  expect(states).toMatchObject([{ error: { code: 'host_state' } }, { error: { code: 'host_state' } }])
  await expectQuiet()
})

describe('200 waits at once', () => {
  it('share one observer, one look at a time and one message', async () => {
    thread.turns = [turn('a')]
    const states = Array.from({ length: 200 }, () => wait('a').state)
    await clock.advance(1_000)
    expect(thread.listeners).toBe(1)
    expect(thread.calls.length).toBeLessThanOrEqual(4)
    const before = thread.calls.length
    thread.turns = [completed('a')]
    thread.announce(idle)
    await settled()
    expect(states.every(({ outcome }) => outcome?.turn?.status === 'completed')).toBe(true)
    expect(thread.calls.slice(before)).toEqual(['thread/turns/list', 'thread/items/list'])
    await expectQuiet()
  })

  it('end one by one at their own time-outs', async () => {
    thread.turns = [turn('a')]
    const states = Array.from({ length: 200 }, (_, n) => wait('a', 1_000 + n).state)
    await clock.advance(1_099)
    expect(states.filter(({ outcome }) => outcome !== undefined).length).toBe(100)
    await clock.advance(100)
    expect(states.map(({ afterMs }) => afterMs)).toEqual(states.map((_, n) => 1_000 + n))
    await expectQuiet()
  })
})
