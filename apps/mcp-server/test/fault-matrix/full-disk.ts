import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { BridgeError, type Clock } from '@codex-thread-bridge/core/contract'
import type { LedgerPort, Receipt } from '@codex-thread-bridge/core/ledger'

/** A disk that is full from one save on. */
export interface FullDisk {
  readonly wrap: (ledger: LedgerPort) => LedgerPort
  readonly clock: Clock
  readonly full: boolean
  /** Full when a receipt of this kind is to be written. */
  fillAt(kind: (receipt: Receipt) => boolean): void
  free(): void
}

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
    fillAt: (kind) => {
      fills = kind
    },
    free: () => {
      full = false
      fills = undefined
    },
    wrap: (ledger) => ({
      endpoint: ledger.endpoint,
      path: ledger.path,
      claim: (row) => {
        full ||= fills?.(row.receipt) === true
        guard()
        return ledger.claim(row)
      },
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
