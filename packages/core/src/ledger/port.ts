import type { Receipt, Status } from './receipt.ts'

/** One row of the ledger. */
export interface LedgerRow {
  readonly fingerprint: string
  readonly receipt: Receipt
}

export interface ReceiptQuery {
  readonly status?: Status
  readonly threadId?: string
  readonly limit: number
  /** Only receipts that come after this one, newest first. */
  readonly after?: { readonly startedAt: number; readonly requestId: string }
}

export interface ReceiptPage {
  readonly receipts: readonly Receipt[]
  readonly more: boolean
}

/**
 * Where receipts live. Every write is one durable commit when the call returns.
 * Receipts come back as read: one whose owner is dead has become what its steps prove (readAs in ledger/read-as.ts).
 * @throws BridgeError with a ledger_* code; nothing was written then
 */
export interface LedgerPort {
  /** The identity of the App Server endpoint that this ledger belongs to; part of every delivery marker. */
  readonly endpoint: string
  /** The file, or null where there is none. */
  readonly path: string | null
  /** Inserts the row unless the request id is there; returns the row that stands. */
  claim(row: LedgerRow): { readonly won: boolean; readonly row: LedgerRow }
  get(requestId: string): LedgerRow | undefined
  /** Replaces the receipt of an existing row. */
  save(receipt: Receipt): void
  /** Takes a row away for which provably nothing was sent. */
  drop(requestId: string): void
  /** Newest first by startedAt, then requestId. */
  list(query: ReceiptQuery): ReceiptPage
  counts(): { readonly operations: number; readonly uncertain: number }
  /** Puts the request in line for the thread; the owner is this process. */
  enqueue(threadId: string, requestId: string): void
  /** The request that may act on the thread: the oldest in line whose owner lives. */
  holder(threadId: string): string | undefined
  dequeue(threadId: string, requestId: string): void
  close(): void
}
