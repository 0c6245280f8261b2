import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  AppServerError,
  BridgeError,
  errorCodes,
  TransportError,
  type ErrorCode,
} from '../../src/contract/errors.ts'
import { endingOf, settles } from '../../src/host/steps.ts'
import type { Receipt, Step } from '../../src/ledger/receipt.ts'

const receiptWith = (steps: readonly Step[]): Receipt => ({
  requestId: 'r',
  operation: 'create_thread',
  status: 'in_progress_or_unknown',
  startedAt: 1,
  updatedAt: 1,
  retrySafe: false,
  next: 'reconcile',
  steps: [...steps],
})

const names = [
  'thread/start',
  'thread/resume',
  'thread/section/move',
  'turn/start',
  'thread/unsubscribe',
  'git worktree add',
]
const states = ['intended', 'answered', 'rejected', 'not_sent', 'unknown'] as const
const steps = fc.array(
  fc.record({ name: fc.constantFrom(...names), state: fc.constantFrom(...states), at: fc.constant(1) }),
  {
    maxLength: 6,
  },
)
const isCode = (code: string): code is ErrorCode => code in errorCodes
const codes = Object.keys(errorCodes).filter(isCode)
const errors = fc.oneof(
  fc.constantFrom(...codes).map((code) => new BridgeError(code, 'm')),
  fc
    .constantFrom<'not_sent' | 'unknown'>('not_sent', 'unknown')
    .map((d) => new TransportError('connection_lost', 'm', d)),
  fc
    .constantFrom(...codes)
    .map((code) => new AppServerError(code, 'turn/start', { code: -32600, message: 'no' })),
)

describe('how a mutation that threw ends', () => {
  it('is never accepted', () => {
    fc.assert(
      fc.property(steps, errors, (journal, error) => {
        const ending = endingOf(receiptWith(journal), error)
        return ending.drop || ending.patch.status !== 'accepted'
      }),
    )
  })

  it('leaves no row only when every step was provably not sent', () => {
    fc.assert(
      fc.property(steps, errors, (journal, error) => {
        const ending = endingOf(receiptWith(journal), error)
        return !ending.drop || journal.every((step) => step.state === 'not_sent')
      }),
    )
  })

  it('is unknown exactly when a step that decides was sent and has no answer', () => {
    fc.assert(
      fc.property(steps, errors, (journal, error) => {
        const open = journal.some(
          (step) => settles(step.name) && (step.state === 'unknown' || step.state === 'intended'),
        )
        const ending = endingOf(receiptWith(journal), error)
        return open === (!ending.drop && ending.patch.status === 'outcome_unknown')
      }),
    )
  })

  it('asks to inspect what exists when an earlier step was answered', () => {
    const ending = endingOf(
      receiptWith([
        { name: 'thread/start', state: 'answered', at: 1 },
        { name: 'thread/section/move', state: 'rejected', at: 1 },
      ]),
      new AppServerError('app_server_error', 'thread/section/move', { code: -32600, message: 'no' }),
    )
    expect(ending).toMatchObject({
      drop: false,
      patch: { status: 'failed', next: 'inspect', rpcError: { code: -32600, message: 'no' } },
    })
  })

  it('calls a lost thread/resume failed and not sent: no message left', () => {
    const ending = endingOf(
      receiptWith([{ name: 'thread/resume', state: 'unknown', at: 1 }]),
      new TransportError('request_timeout', 'late', 'unknown'),
    )
    expect(ending).toMatchObject({
      drop: false,
      patch: {
        status: 'failed',
        next: 'new_request_id',
        error: { code: 'not_sent', details: { cause: 'request_timeout' } },
      },
    })
  })

  it('keeps a known refusal without effect as failed, to be tried under a new id', () => {
    const ending = endingOf(receiptWith([]), new BridgeError('thread_busy', 'busy'))
    expect(ending).toMatchObject({
      drop: false,
      patch: { status: 'failed', next: 'new_request_id', error: { code: 'thread_busy' } },
    })
  })

  it('drops the row of a call that could not connect', () => {
    expect(endingOf(receiptWith([]), new TransportError('socket_absent', 'none', 'not_sent'))).toEqual({
      drop: true,
    })
  })
})
