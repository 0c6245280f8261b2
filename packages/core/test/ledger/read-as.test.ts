import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { readAs, Receipt, type Step } from '../../src/ledger/index.ts'
import { parseReceipt } from '../../src/ledger/parse-receipt.ts'
import { codeOf, open, owners, receipt } from './support.ts'

const dead = () => false
const alive = () => true
const step = (name: string, state: Step['state']): Step => ({ name, state, at: 1 })

describe('readAs', () => {
  test.each(['accepted', 'failed', 'outcome_unknown'] as const)('leaves %s as it is', (status) => {
    const settled = receipt('r', { status, owner: owners.dead, steps: [step('turn/start', 'unknown')] })
    expect(readAs(settled, dead)).toEqual(settled)
  })

  test('says of an open receipt whose owner lives that it is running', () => {
    const running = receipt('r', open(owners.living, [step('turn/start', 'intended')]))
    expect(readAs(running, alive)).toEqual({ ...running, execution: 'running' })
  })

  test.each<[string, Step[]]>([
    ['no step', []],
    ['a lost resume', [step('thread/resume', 'intended')]],
    ['an answered resume', [step('thread/resume', 'answered')]],
    ['an intended unsubscribe', [step('thread/unsubscribe', 'intended')]],
    ['a step that was provably not sent', [step('turn/start', 'not_sent')]],
  ])('proves that nothing was sent from %s', (_what, steps) => {
    const left = receipt('r', { ...open(owners.dead, steps), threadId: 't' })
    expect(readAs({ ...left, execution: 'running' }, dead)).toEqual({
      ...left,
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'not_sent', message: 'The bridge process ended before anything was sent.' },
    })
  })

  test.each<[string, Step[]]>([
    ['an intended turn', [step('thread/resume', 'answered'), step('turn/start', 'intended')]],
    ['an answered creation', [step('thread/start', 'answered')]],
    ['a rejected step', [step('turn/steer', 'rejected')]],
    ['a step of unknown end', [step('thread/queue/add', 'unknown')]],
    ['a step that is no method', [step('git worktree add', 'intended')]],
    ['a later step than one not sent', [step('turn/steer', 'not_sent'), step('turn/start', 'intended')]],
  ])('leaves the outcome unknown after %s', (_what, steps) => {
    const left = receipt('r', open(owners.dead, steps))
    expect(readAs(left, dead)).toEqual({
      ...left,
      status: 'outcome_unknown',
      execution: 'interrupted',
      next: 'reconcile',
      error: { code: 'interrupted', message: 'The bridge process ended while the action ran.' },
    })
  })

  test('leaves the outcome of an open receipt without an owner unknown', () => {
    const read = readAs(receipt('r', { status: 'in_progress_or_unknown' }), alive)
    expect([read.status, read.execution, read.next, read.error?.code]).toEqual([
      'outcome_unknown',
      undefined,
      'reconcile',
      'outcome_unknown',
    ])
  })

  test('keeps an error that an open receipt has already', () => {
    const error = { code: 'request_timeout', message: 'no answer' }
    const left = receipt('r', { ...open(owners.dead, [step('turn/start', 'unknown')]), error })
    expect(readAs(left, dead).error).toEqual(error)
  })

  test('does not change the receipt it reads', () => {
    const left = Object.freeze(receipt('r', { ...open(owners.dead), execution: 'running' }))
    readAs(left, dead)
    expect(left.execution).toBe('running')
  })
})

describe('parseReceipt', () => {
  const parse = (members: object) => parseReceipt('r', JSON.stringify(members))

  test('gives a receipt of ours back as it was', () => {
    const mine = receipt('r', { ownMember: { deep: [null] }, rpcError: { code: -1, message: 'no' } })
    expect(parse(mine)).toEqual(mine)
  })

  test('completes what an older bridge did not write', () => {
    const read = parse({ status: 'failed', error: 'thread/start: rejected', custom: 1, title: null })
    expect(read).toEqual({
      requestId: 'r',
      operation: 'unknown',
      status: 'failed',
      startedAt: 0,
      updatedAt: 0,
      retrySafe: false,
      next: 'inspect',
      steps: [],
      error: { code: 'app_server_error', message: 'thread/start: rejected' },
      custom: 1,
    })
    expect(Value.Check(Receipt, read)).toBe(true)
  })

  test('keeps members of a known name and another shape under legacy', () => {
    const read = parse({ status: 'accepted', startedAt: 5, delivery: 'sent', server: { pid: 1 } })
    expect(read.legacy).toEqual({ delivery: 'sent', server: { pid: 1 } })
    expect([read.delivery, read.server, read.updatedAt]).toEqual([undefined, undefined, 5])
  })

  test.each([
    ['no JSON', 'no JSON'],
    ['a list', '[]'],
    ['null', 'null'],
    ['an unknown status', '{"status":"done"}'],
    ['no status', '{}'],
    ['bytes', Buffer.from('{}')],
  ])('names the request whose row holds %s', async (_what, stored) => {
    expect(await codeOf(() => parseReceipt('the id', stored))).toBe('ledger_corrupt')
    expect(() => parseReceipt('the id', stored)).toThrow(/"the id"/)
  })
})
