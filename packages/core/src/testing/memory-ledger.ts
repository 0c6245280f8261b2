import { BridgeError } from '../contract/errors.ts'
import { afterDeath } from '../ledger/after-death.ts'
import { compareNewestFirst } from '../ledger/listing.ts'
import { isAlive as processIsAlive, processOwner, type Liveness } from '../ledger/owner.ts'
import { parseReceipt } from '../ledger/parse-receipt.ts'
import type { LedgerPort, LedgerRow } from '../ledger/port.ts'
import { readAs } from '../ledger/read-as.ts'
import type { Owner, Receipt } from '../ledger/receipt.ts'

interface ThreadClaim {
  readonly threadId: string
  readonly requestId: string
  readonly owner: Owner
}

/** What several memory ledgers share, as several processes share a file. */
export interface MemoryStore {
  readonly operations: Map<string, { readonly fingerprint: string; readonly receipt: string }>
  readonly line: ThreadClaim[]
}

export interface MemoryLedgerOptions {
  readonly endpoint?: string
  readonly store?: MemoryStore
  readonly owner?: Owner
  readonly isAlive?: Liveness
}

export const memoryStore = (): MemoryStore => ({ operations: new Map(), line: [] })

/** A ledger that behaves as the one on disk and is gone with the process. */
export const memoryLedger = (options: MemoryLedgerOptions = {}): LedgerPort => {
  const { operations, line } = options.store ?? memoryStore()
  const owner = options.owner ?? processOwner()
  const isAlive = options.isAlive ?? processIsAlive

  const reading = afterDeath(isAlive)
  const read = (requestId: string): LedgerRow | undefined =>
    reading((alive) => {
      const row = operations.get(requestId)
      return row && { ...row, receipt: readAs(parseReceipt(requestId, row.receipt), alive) }
    })
  const readAll = (): Receipt[] =>
    reading((alive) =>
      [...operations].map(([requestId, row]) => readAs(parseReceipt(requestId, row.receipt), alive)),
    )
  const leave = (gone: (claim: ThreadClaim) => boolean): void => {
    const staying = line.filter((claim) => !gone(claim))
    line.splice(0, line.length, ...staying)
  }
  const isClaimOf = (threadId: string, requestId: string) => (claim: ThreadClaim) =>
    claim.threadId === threadId && claim.requestId === requestId

  return {
    endpoint: options.endpoint ?? '/memory/app-server.sock',
    path: null,
    claim: (row) => {
      const standing = read(row.receipt.requestId)
      if (standing) return { won: false, row: standing }
      const { fingerprint, receipt } = row
      operations.set(receipt.requestId, { fingerprint, receipt: JSON.stringify(receipt) })
      return { won: true, row }
    },
    get: read,
    save: (receipt) => {
      const row = operations.get(receipt.requestId)
      if (!row)
        throw new BridgeError('ledger_unavailable', `There is no row of ${receipt.requestId} any more.`)
      operations.set(receipt.requestId, { ...row, receipt: JSON.stringify(receipt) })
    },
    drop: (requestId) => void operations.delete(requestId),
    list: ({ status, threadId, limit, after }) => {
      const receipts = readAll()
        .filter((receipt) => status === undefined || receipt.status === status)
        .filter((receipt) => threadId === undefined || receipt.threadId === threadId)
        .filter((receipt) => after === undefined || compareNewestFirst(after, receipt) < 0)
        .sort(compareNewestFirst)
      return { receipts: receipts.slice(0, limit), more: receipts.length > limit }
    },
    counts: () => ({
      operations: operations.size,
      uncertain: readAll().filter((receipt) => receipt.status === 'outcome_unknown').length,
    }),
    enqueue: (threadId, requestId) => {
      const isThis = isClaimOf(threadId, requestId)
      leave((claim) => isThis(claim) && !isAlive(claim.owner))
      if (!line.some(isThis)) line.push({ threadId, requestId, owner })
    },
    holder: (threadId) => {
      leave((claim) => claim.threadId === threadId && !isAlive(claim.owner))
      return line.find((claim) => claim.threadId === threadId)?.requestId
    },
    dequeue: (threadId, requestId) => leave(isClaimOf(threadId, requestId)),
    close: () => {},
  }
}
