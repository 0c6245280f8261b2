import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { BridgeError, type Clock } from '@codex-thread-bridge/core/contract'
import type { LedgerPort, Receipt } from '@codex-thread-bridge/core/ledger'
import type { StepRow } from './steps.ts'

/** A disk that is full from one save on: that of a step's intent, or the first one after its outcome is known. */
export interface FullDisk {
  readonly wrap: (ledger: LedgerPort) => LedgerPort
  readonly clock: Clock
  readonly full: boolean
  fillAt(step: StepRow, save: 'intent' | 'outcome'): void
  free(): void
}

const nthOf = (receipt: Receipt, { method, nth }: StepRow) =>
  receipt.steps.filter(({ name }) => name === method)[nth - 1]

export const createFullDisk = (): FullDisk => {
  let fills: ((receipt: Receipt) => boolean) | undefined
  let full = false
  let skippedMs = 0
  const guard = (): void => {
    if (full) throw new BridgeError('ledger_full', 'The disk is full.')
  }
  return {
    get full() {
      return full
    },
    fillAt: (step, save) => {
      fills = (receipt) => {
        const state = nthOf(receipt, step)?.state
        return state !== undefined && (save === 'intent') === (state === 'intended')
      }
    },
    free: () => {
      full = false
      fills = undefined
    },
    wrap: (ledger) => ({
      endpoint: ledger.endpoint,
      path: ledger.path,
      claim: (row) => (guard(), ledger.claim(row)),
      get: (requestId) => ledger.get(requestId),
      save: (receipt) => {
        full ||= fills?.(receipt) === true
        guard()
        ledger.save(receipt)
      },
      drop: (requestId) => (guard(), ledger.drop(requestId)),
      list: (query) => ledger.list(query),
      counts: () => ledger.counts(),
      enqueue: (threadId, requestId) => (guard(), ledger.enqueue(threadId, requestId)),
      holder: (threadId) => ledger.holder(threadId),
      dequeue: (threadId, requestId) => (guard(), ledger.dequeue(threadId, requestId)),
      close: () => ledger.close(),
    }),
    // A save is tried again after sleeps that nothing can end: on a full disk they pass at once.
    clock: {
      now: () => Date.now() + skippedMs,
      sleep: async (ms, signal) => {
        if (full && signal === undefined) {
          skippedMs += 10 * ms
          await setImmediate()
        } else await sleep(ms, undefined, signal === undefined ? {} : { signal })
      },
    },
  }
}
