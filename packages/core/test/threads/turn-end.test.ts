import { describe, expect, it } from 'vitest'
import { Doubts, turnState, type Reading } from '../../src/threads/turn-end.ts'
import { active, completed, cutOff, idle, turn } from './fake-thread.ts'

const reading = (members: Partial<Reading>): Reading => ({
  at: 1_796_058_800_000,
  status: idle,
  turns: [],
  server: undefined,
  ...members,
})
/** A server whose socket file was made at that second. */
const startedAt = (seconds: number) => ({
  userAgent: 'test',
  version: '0.171.0',
  codexHome: null,
  socketMtimeNs: `${seconds}500000000`,
})

describe('turnState', () => {
  it.each([
    ['completed', completed('a'), 'ended'],
    ['failed', turn('a', { status: 'failed' }), 'ended'],
    ['really interrupted', turn('a', { status: 'interrupted', completedAt: 1_796_058_799 }), 'ended'],
    ['in progress', turn('a'), 'running'],
    ['of a kind that is not known yet', turn('a', { status: 'cancelled' }), 'ended'],
  ])('of a turn that is %s', (_, row, state) => {
    expect(turnState(reading({ turns: [row] }), 'a')).toBe(state)
    expect(turnState(reading({ turns: [row], status: active }), 'a')).toBe(state)
  })

  it('of a turn that is not there, whatever other turns say', () => {
    expect(turnState(reading({ turns: [completed('b')] }), 'a')).toBe('unseen')
  })

  it('of an interrupted turn without an end: doubtful while nothing can run it, running while something may', () => {
    const turns = [cutOff('a')]
    expect(turnState(reading({ turns }), 'a')).toBe('doubtful')
    expect(turnState(reading({ turns, status: { type: 'notLoaded' } }), 'a')).toBe('doubtful')
    expect(turnState(reading({ turns, status: active }), 'a')).toBe('running')
    expect(turnState(reading({ turns, status: { type: 'systemError' } }), 'a')).toBe('running')
  })

  it('of an interrupted turn without an end that a newer one has followed: doubtful whatever the thread does', () => {
    expect(turnState(reading({ turns: [turn('b'), cutOff('a')], status: active }), 'a')).toBe('doubtful')
  })

  it('of an interrupted turn without an end that began before the server did: ended', () => {
    const turns = [turn('a', { status: 'interrupted', startedAt: 1_796_058_790 })]
    expect(turnState(reading({ turns, server: startedAt(1_796_058_791) }), 'a')).toBe('ended')
    expect(turnState(reading({ turns, server: startedAt(1_796_058_790) }), 'a')).toBe('doubtful')
    expect(turnState(reading({ turns, server: startedAt(1_796_058_700), status: active }), 'a')).toBe(
      'running',
    )
  })

  it('tells by the milliseconds of its id whether it began before the server did', () => {
    const id = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
    const begun = 0x01a22d6cee00
    const by = (ms: number) =>
      turnState(
        reading({ turns: [cutOff(id)], server: { ...startedAt(0), socketMtimeNs: `${begun + ms}000000` } }),
        id,
      )
    expect([by(-1), by(0), by(1)]).toEqual(['doubtful', 'doubtful', 'ended'])
  })
})

describe('Doubts', () => {
  const look = (atMs: number, members: Partial<Reading> = {}) =>
    reading({ at: 1_796_058_800_000 + atMs, turns: [cutOff('a')], ...members })

  it('believes two looks a second apart', () => {
    const doubts = new Doubts()
    expect([0, 10, 435, 999, 1_000].map((at) => doubts.ended(look(at), 'a'))).toEqual([
      false,
      false,
      false,
      false,
      true,
    ])
  })

  it('begins anew when a look between says otherwise', () => {
    const doubts = new Doubts()
    expect(doubts.ended(look(0), 'a')).toBe(false)
    expect(doubts.ended(look(500, { status: active }), 'a')).toBe(false)
    expect(doubts.any).toBe(false)
    expect(doubts.ended(look(1_200), 'a')).toBe(false)
    expect(doubts.ended(look(2_200), 'a')).toBe(true)
  })

  it('has none about a turn that has ended for certain', () => {
    const doubts = new Doubts()
    doubts.ended(look(0), 'a')
    expect(doubts.any).toBe(true)
    expect(doubts.ended(look(10, { turns: [completed('a')] }), 'a')).toBe(true)
    expect(doubts.any).toBe(false)
  })
})
