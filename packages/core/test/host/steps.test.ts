import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ServerInfo } from '../../src/contract/app-server.ts'
import { BridgeError, type ErrorCode } from '../../src/contract/errors.ts'
import { systemClock } from '../../src/host/clock.ts'
import { Steps } from '../../src/host/steps.ts'
import type { LedgerPort } from '../../src/ledger/port.ts'
import type { Receipt } from '../../src/ledger/receipt.ts'
import { memoryLedger } from '../../src/testing/index.ts'

const opened: Receipt = {
  requestId: 'r',
  operation: 'send_message_to_thread',
  status: 'in_progress_or_unknown',
  startedAt: 1,
  updatedAt: 1,
  retrySafe: false,
  next: 'reconcile',
  steps: [],
}

const serverOf = (socketMtimeNs: string): ServerInfo => ({
  userAgent: '',
  version: '0.171.0',
  codexHome: null,
  socketMtimeNs,
})

const journalOn = (ledger: LedgerPort): Steps => {
  ledger.claim({ fingerprint: 'f', receipt: opened })
  return new Steps(ledger, opened, systemClock, () => undefined)
}

describe('the journal', () => {
  it('names the App Server that the newest deciding step went to', async () => {
    const ledger = memoryLedger()
    const steps = journalOn(ledger)
    steps.end(await steps.begin('thread/resume', serverOf('1')), 'answered')
    expect(steps.receipt.server?.socketMtimeNs).toBe('1')
    // Restarted in between: that the first one is gone says nothing of a message that the second one got.
    steps.end(await steps.begin('turn/start', serverOf('2')), 'unknown')
    expect(steps.receipt.server?.socketMtimeNs).toBe('2')
    await steps.begin('thread/unsubscribe', serverOf('3'))
    expect(steps.receipt.server?.socketMtimeNs).toBe('2')
    expect(ledger.get('r')?.receipt.server?.socketMtimeNs).toBe('2')
  })
})

describe('a receipt that could not be kept', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** Takes no receipt while a reason is given. */
  const refusing = () => {
    const ledger = memoryLedger()
    const refusal: { code?: ErrorCode; refused: number } = { code: 'ledger_full', refused: 0 }
    const save = (receipt: Receipt): void => {
      if (refusal.code === undefined) return ledger.save(receipt)
      refusal.refused += 1
      throw new BridgeError(refusal.code, 'no')
    }
    return { ledger: { ...ledger, save }, refusal }
  }

  it('is kept as soon as there is room again', async () => {
    const { ledger, refusal } = refusing()
    const steps = journalOn(ledger)
    expect(await steps.finish({ status: 'accepted', next: 'none' })).toMatchObject({
      status: 'accepted',
      receiptPersisted: false,
    })
    await vi.advanceTimersByTimeAsync(3_000)
    expect(refusal.refused).toBe(5)
    delete refusal.code
    await vi.advanceTimersByTimeAsync(1_000)
    expect(ledger.get('r')?.receipt).toMatchObject({ status: 'accepted', next: 'none' })
    expect(ledger.get('r')?.receipt).not.toHaveProperty('receiptPersisted')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is given up when its ledger is closed', async () => {
    const { ledger, refusal } = refusing()
    await journalOn(ledger).finish({ status: 'accepted', next: 'none' })
    refusal.code = 'ledger_unavailable'
    await vi.advanceTimersByTimeAsync(10_000)
    expect(refusal.refused).toBe(3)
    expect(vi.getTimerCount()).toBe(0)
  })
})
