import { describe, expect, test } from 'vitest'
import { firstAttempt, nextAttempt, type Attempt } from '../../src/transport/repeat.ts'
import type { Outcome } from '../../src/transport/session.ts'
import type { Method } from '../../src/protocol/index.ts'

type Failed = Exclude<Outcome, { kind: 'answered' }>

/** The params of every attempt, with the same failure after each; `null` at the end when it is given up. */
const attempts = (method: Method, params: object, outcome: Failed): unknown[] => {
  const sent: unknown[] = []
  let attempt: Attempt | undefined = firstAttempt(params)
  while (attempt !== undefined && sent.length < 20) {
    sent.push(attempt.params)
    attempt = nextAttempt(method, attempt, outcome, () => 0.5)
  }
  return attempt === undefined ? [...sent, null] : sent
}

const lost = (frameTooLong: boolean, alone = true): Failed => ({ kind: 'lost', frameTooLong, alone })
const read = { threadId: 't' }
const limits = (...values: number[]) => values.map((limit) => ({ limit }))

describe('a call that failed is sent again', () => {
  test('once after a loss, if it is a read', () => {
    expect(attempts('thread/read', read, lost(false))).toEqual([read, read, null])
    expect(attempts('thread/list', { limit: 9 }, lost(false))).toEqual([...limits(9, 9), null])
  })

  test('never if it is a mutation', () => {
    expect(attempts('turn/start', read, lost(false))).toEqual([read, null])
    expect(attempts('thread/resume', read, lost(true))).toEqual([read, null])
  })

  test('with half the limit after a frame that can only have been its own', () => {
    expect(attempts('thread/list', { limit: 9 }, lost(true))).toEqual([...limits(9, 4, 2, 1), null])
    expect(attempts('thread/list', { cursor: 'c' }, lost(true))).toEqual([
      { cursor: 'c' },
      ...[12, 6, 3, 1].map((limit) => ({ cursor: 'c', limit })),
      null,
    ])
    expect(attempts('thread/read', read, lost(true))).toEqual([read, null])
  })

  test('as it was, while the frame may have been another’s, before it is shortened or given up', () => {
    expect(attempts('thread/list', { limit: 4 }, lost(true, false))).toEqual([
      ...limits(4, 4, 2, 1, 1, 1),
      null,
    ])
    expect(attempts('thread/read', read, lost(true, false))).toEqual([read, read, read, read, null])
  })

  test.each<Failed>([
    { kind: 'timed_out' },
    { kind: 'cancelled' },
    { kind: 'not_sent' },
    { kind: 'too_large', bytes: 9 },
    { kind: 'refused', rpc: { code: -32600, message: 'thread not found: t' } },
  ])('not after $kind', (outcome) => {
    expect(attempts('thread/read', read, outcome)).toEqual([read, null])
  })
})
