import { TransportError, BridgeError } from '../contract/errors.ts'
import type { ReconcileContext, Verdict } from '../contract/tool.ts'
import { FINGERPRINT_VERSION } from '../ledger/fingerprint.ts'
import type { LedgerPort, ReceiptPage, ReceiptQuery } from '../ledger/port.ts'
import type { Receipt } from '../ledger/receipt.ts'
import { readContext, type CallOptions, type Surroundings } from './context.ts'
import { readsOnly } from './gate.ts'
import { answerOf } from './mutations.ts'
import type { Registry } from './registry.ts'
import type { StartedThreads } from './started-threads.ts'

/** Whether a message may still get lost: not durable yet, or queued, which a crash between queue and turn ends. */
const onItsWay = ({ delivery, turnId }: Receipt): boolean =>
  delivery?.state === 'acknowledged' || (delivery?.as === 'queue' && turnId === undefined)

/** Whether there is something to find out about a receipt: whether reconciling it may change it. */
export const isUncertain = (receipt: Receipt): boolean =>
  receipt.execution !== 'running' &&
  (receipt.status === 'outcome_unknown' || (receipt.status === 'accepted' && onItsWay(receipt)))

const failedAs = (code: 'not_completed' | 'not_delivered' | 'not_sent', message: string) =>
  ({ status: 'failed', next: 'new_request_id', error: { code, message } }) as const

/** What a verdict makes of a receipt (design: receipts, Reconciliation). */
const settled = (receipt: Receipt, { verdict, patch = {} }: Verdict): Receipt => {
  const { execution: _execution, error: _error, rpcError: _rpcError, ...known } = receipt
  const { delivery: _delivery, ...undelivered } = known
  switch (verdict) {
    case 'delivered':
    case 'created':
      return { ...known, ...patch, status: 'accepted', next: 'none' }
    case 'created_incomplete':
      return {
        ...undelivered,
        ...failedAs('not_completed', 'The thread was created, but the steps after it were not all done.'),
        ...patch,
      }
    case 'not_delivered':
      return {
        ...undelivered,
        ...failedAs('not_delivered', 'The message is not in the thread and can no longer arrive.'),
        ...patch,
      }
    case 'not_started':
      return { ...known, ...patch, ...failedAs('not_sent', 'Nothing was started.') }
    case 'not_found':
    case 'unreachable':
    case 'unknowable':
      return { ...receipt, ...patch }
  }
}

/** Receipts as the operations tools see them. */
export class Operations {
  readonly #around: Surroundings
  readonly #ledger: () => Promise<LedgerPort>
  readonly #registry: Registry
  readonly #started: StartedThreads

  constructor(
    around: Surroundings,
    ledger: () => Promise<LedgerPort>,
    registry: Registry,
    started: StartedThreads,
  ) {
    this.#around = around
    this.#ledger = ledger
    this.#registry = registry
    this.#started = started
  }

  /** @throws BridgeError unknown_request, ledger_* */
  async get(requestId: string): Promise<Receipt> {
    return answerOf(this.#find(await this.#ledger(), requestId), false)
  }

  async list(query: ReceiptQuery): Promise<ReceiptPage> {
    const { receipts, more } = (await this.#ledger()).list(query)
    return { receipts: receipts.map((receipt) => answerOf(receipt, false)), more }
  }

  /** Where the ledger is and what it holds. @throws BridgeError ledger_* */
  async ledger(): Promise<{
    readonly path: string | null
    readonly operations: number
    readonly uncertain: number
  }> {
    const ledger = await this.#ledger()
    return { path: ledger.path, ...ledger.counts() }
  }

  /**
   * Looks for the truth of an uncertain receipt with read-only calls and keeps the evidence.
   * @throws BridgeError unknown_request, ledger_*
   */
  async reconcile(requestId: string, options: CallOptions = {}): Promise<Receipt> {
    const ledger = await this.#ledger()
    const receipt = this.#find(ledger, requestId)
    if (!isUncertain(receipt)) return answerOf(receipt, false)
    const verdict = await this.#look(receipt, options)
    const reconciliation = {
      verdict: verdict.verdict,
      checkedAt: this.#around.clock.now() / 1000,
      looked: verdict.looked,
      ...(this.#around.appServer.reads.server === undefined
        ? {}
        : { serverVersion: this.#around.appServer.reads.server.version }),
    }
    // A late answer may have settled it while we looked: what is certain stays.
    const now = this.#find(ledger, requestId)
    if (!isUncertain(now)) return answerOf(now, false)
    const after: Receipt = {
      ...settled(now, verdict),
      reconciliation,
      updatedAt: this.#around.clock.now() / 1000,
    }
    ledger.save(after)
    return answerOf(after, false)
  }

  #find(ledger: LedgerPort, requestId: string): Receipt {
    const row = ledger.get(requestId)
    if (row === undefined)
      throw new BridgeError('unknown_request', `No receipt for request_id ${JSON.stringify(requestId)}.`, {
        field: 'request_id',
      })
    return row.receipt
  }

  async #look(receipt: Receipt, options: CallOptions): Promise<Verdict> {
    // The Python bridge kept no steps and no markers: that none stands there does not mean that nothing was sent.
    if ((receipt.fingerprintVersion ?? 1) < FINGERPRINT_VERSION)
      return {
        verdict: 'unknowable',
        looked: { reason: 'an older bridge recorded neither steps nor markers' },
      }
    const entry = this.#registry.ofReceipt(receipt.family, receipt.operation)
    const here = entry?.tool.kind === 'mutation' ? await entry.tool.reconcileHere?.(receipt) : undefined
    if (here !== undefined) return here
    if (entry?.tool.kind !== 'mutation' || entry.tool.reconcile === undefined)
      return { verdict: 'unknowable', looked: { reason: `no loaded plugin reconciles ${receipt.operation}` } }
    const { appServer } = this.#around
    try {
      const server = await appServer.reads.connect()
      const signal = options.signal ?? new AbortController().signal
      const context: ReconcileContext = {
        ...readContext(this.#around, appServer.reads, readsOnly, { ...options, signal }),
        server,
        startedThread: (marker) => this.#started.find(marker),
      }
      return await entry.tool.reconcile(context, receipt)
    } catch (error) {
      if (TransportError.is(error)) return { verdict: 'unreachable', looked: { code: error.code } }
      throw error
    }
  }
}
