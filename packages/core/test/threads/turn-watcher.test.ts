import { beforeEach, describe, expect, it } from 'vitest'
import { AppServerError } from '../../src/contract/errors.ts'
import { settled } from './fake-clock.ts'
import { active, completed, cutOff, idle, turn } from './fake-thread.ts'
import { startWatching } from './watching.ts'

const message = { type: 'agentMessage', id: 'item-2', text: 'done' }

let world = startWatching()
beforeEach(() => {
  world = startWatching()
})

describe('a wait for a turn that is over', () => {
  it('answers at the first look, with the last agent message', async () => {
    world.thread.turns = [completed('a')]
    world.thread.messages = {
      a: [{ type: 'reasoning', id: 'item-3' }, message, { type: 'agentMessage', id: 'item-1' }],
    }
    const state = world.wait('a')
    await settled()
    expect(state.outcome).toEqual({
      timedOut: false,
      turn: { ...completed('a'), items: [message], itemsView: 'summary' },
    })
    expect(world.thread.calls).toEqual(['thread/read', 'thread/turns/list', 'thread/items/list'])
    await world.expectQuiet()
  })

  it('passes a failure on as it is', async () => {
    const failed = turn('a', { status: 'failed', error: { message: 'model is gone' } })
    world.thread.turns = [failed]
    const state = world.wait('a')
    await settled()
    expect(state.outcome).toEqual({ timedOut: false, turn: failed })
  })

  it('finds the message of a thread with the older history in the summary', async () => {
    world.thread.turns = [completed('b'), { ...completed('a'), items: [message] }]
    const context = world.thread.context()
    const state = world.wait('a', 20_000, {
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
    world.thread.turns = [turn('a')]
    const state = world.wait('a')
    await world.clock.advance(5_000)
    expect(world.thread.calls).toEqual(['thread/read', 'thread/turns/list'])
    world.thread.turns = [completed('a')]
    world.thread.announce(idle)
    await settled()
    expect(state).toMatchObject({
      outcome: { timedOut: false, turn: { status: 'completed' } },
      afterMs: 5_000,
    })
    expect(world.thread.calls.slice(2)).toEqual(['thread/turns/list', 'thread/items/list'])
    await world.expectQuiet()
  })

  it('sees an end that came without a broadcast at the safety look', async () => {
    world.thread.turns = [turn('a')]
    const state = world.wait('a')
    await world.clock.advance(100)
    world.thread.turns = [completed('a')]
    world.thread.status = idle
    await world.clock.advance(14_899)
    expect(state.outcome).toBeUndefined()
    await world.clock.advance(1)
    expect(state).toMatchObject({ outcome: { turn: { status: 'completed' } }, afterMs: 15_000 })
  })

  it('looks again at once after the connection was lost', async () => {
    world.thread.turns = [turn('a')]
    const state = world.wait('a')
    await world.clock.advance(3_000)
    world.thread.turns = [completed('a')]
    world.thread.lose()
    await settled()
    expect(state).toMatchObject({ outcome: { turn: { status: 'completed' } }, afterMs: 3_000 })
  })

  it('reads a failure that shows up some milliseconds after the event', async () => {
    world.thread.turns = [turn('a')]
    const state = world.wait('a')
    await world.clock.advance(1_000)
    world.thread.turns = [cutOff('a')]
    world.thread.announce({ type: 'systemError' })
    await world.clock.advance(9)
    expect(state.outcome).toBeUndefined()
    world.thread.turns = [turn('a', { status: 'failed', error: { message: 'model is gone' } })]
    await world.clock.advance(1)
    expect(state).toMatchObject({ outcome: { turn: { status: 'failed' } }, afterMs: 1_010 })
  })

  it('is not ended by another turn', async () => {
    world.thread.turns = [turn('a')]
    const state = world.wait('b')
    world.thread.turns = [completed('a')]
    world.thread.announce(idle)
    await world.clock.advance(1_000)
    expect(state.outcome).toBeUndefined()
    world.thread.turns = [turn('b'), completed('a')]
    world.thread.announce(active)
    await world.clock.advance(1_000)
    world.thread.turns = [completed('b'), completed('a')]
    world.thread.announce(idle)
    await settled()
    expect(state).toMatchObject({ outcome: { timedOut: false, turn: { id: 'b' } } })
  })

  it('pays no heed to other threads', async () => {
    world.thread.turns = [turn('a')]
    world.wait('a')
    await world.clock.advance(100)
    const calls = world.thread.calls.length
    world.thread.announce(idle, 'thread-2')
    await settled()
    expect(world.thread.calls.length).toBe(calls)
  })

  it('ends when the thread needs a person', async () => {
    world.thread.turns = [turn('a')]
    const state = world.wait('a')
    await world.clock.advance(2_000)
    world.thread.announce({ type: 'active', activeFlags: ['waitingOnApproval'] })
    await settled()
    expect(state).toEqual({
      outcome: { timedOut: false, turn: turn('a'), attention: ['waitingOnApproval'] },
      afterMs: 2_000,
    })
    await world.expectQuiet()
  })

  it('tells how far it is', async () => {
    const told: string[] = []
    world.thread.turns = [turn('a')]
    world.wait('a', 20_000, world.thread.context({ progress: (text) => told.push(text) }))
    await settled()
    world.thread.turns = []
    world.thread.announce({ type: 'systemError' })
    await settled()
    expect(told).toEqual(['turn inProgress, thread active', 'turn not observed, thread systemError'])
  })
})

describe('a turn that reads as interrupted without an end', () => {
  it('is looked at again after 10, 25, 50, 100, 250 and 1,000 ms, and believed when a second has passed', async () => {
    world.thread.status = idle
    world.thread.turns = [cutOff('a')]
    const state = world.wait('a')
    const looks: number[] = []
    for (const ms of [0, 10, 25, 50, 100, 250, 1_000]) {
      expect(state.outcome).toBeUndefined()
      await world.clock.advance(ms)
      looks.push(world.thread.count('thread/turns/list'))
    }
    expect(looks).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(state).toMatchObject({
      outcome: { timedOut: false, turn: { status: 'interrupted' } },
      afterMs: 1_435,
    })
  })

  it('is not believed when it turns out to run', async () => {
    world.thread.status = idle
    world.thread.turns = [cutOff('a')]
    const state = world.wait('a')
    await world.clock.advance(40)
    world.thread.turns = [turn('a')]
    world.thread.announce(active)
    await world.clock.advance(10_000)
    expect(state.outcome).toBeUndefined()
    world.thread.turns = [completed('a')]
    world.thread.announce(idle)
    await settled()
    expect(state).toMatchObject({ outcome: { turn: { status: 'completed' } } })
  })

  it('is looked at every second once it shows up late', async () => {
    world.thread.status = idle
    const state = world.wait('a')
    await world.clock.advance(10_000)
    world.thread.turns = [cutOff('a')]
    await world.clock.advance(10_000)
    expect(state).toMatchObject({ outcome: { timedOut: false }, afterMs: 1_435 + 15_000 + 1_000 })
  })

  it('is over at once when the server was started later', async () => {
    world.thread.status = { type: 'notLoaded' }
    world.thread.turns = [cutOff('a')]
    world.thread.server = {
      userAgent: 'x',
      version: '0.171.0',
      codexHome: null,
      socketMtimeNs: '1796058795000000000',
    }
    const state = world.wait('a', 0)
    await settled()
    expect(state).toMatchObject({ outcome: { timedOut: false, turn: { status: 'interrupted' } }, afterMs: 0 })
  })

  it('is asked for with a fresh status, never with one that was broadcast before', async () => {
    world.thread.turns = [cutOff('a')]
    world.wait('a')
    world.thread.announce(idle)
    await world.clock.advance(1_400)
    world.thread.status = active
    await world.clock.advance(5_000)
    expect(world.thread.count('thread/read')).toBe(7)
    expect(world.thread.count('thread/turns/list')).toBe(8)
  })
})
