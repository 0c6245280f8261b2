import { AppServerError, asBridgeError, TransportError, type BridgeError } from '../contract/errors.ts'
import type { ServerInfo } from '../contract/app-server.ts'
import type { Clock, Log } from '../contract/tool.ts'
import type { LedgerPort } from '../ledger/port.ts'
import type { Receipt, ReceiptPatch, StepState } from '../ledger/receipt.ts'
import { methodNames, methodSpec } from '../protocol/methods.ts'
import { keepTrying } from './keep-trying.ts'

const SAVE_TRIES_MS = 5_000
const SAVE_EVERY_MS = 100

/** Whether the outcome of a step decides the outcome of the whole; Git and process steps do. */
export const settles = (name: string): boolean => {
  const method = methodNames.find((known) => known === name)
  return method === undefined || methodSpec(method).settles !== false
}

/** What a failed step proves. Anything but a transport failure of our own act is a known failure of that act. */
export const failedState = (error: unknown, byAppServer: boolean): StepState => {
  if (TransportError.is(error)) return error.delivery === 'not_sent' ? 'not_sent' : 'unknown'
  return AppServerError.is(error) || !byAppServer ? 'rejected' : 'unknown'
}

/** The receipt of a running mutation, and its journal: intent is durable before an act, the outcome after. */
export class Steps {
  #receipt: Receipt
  #saved = true
  readonly #ledger: LedgerPort
  readonly #clock: Clock
  readonly #log: Log

  constructor(ledger: LedgerPort, receipt: Receipt, clock: Clock, log: Log) {
    this.#ledger = ledger
    this.#receipt = receipt
    this.#clock = clock
    this.#log = log
  }

  get receipt(): Receipt {
    return this.#receipt
  }

  /** False when the last state could not be written. */
  get persisted(): boolean {
    return this.#saved
  }

  get begun(): boolean {
    return this.#receipt.steps.length > 0
  }

  /**
   * The journal's line for a step that is about to act. Durable when it resolves. Returns its place. The receipt's
   * server is the one that the newest deciding step went to: only its end proves that a message cannot arrive any more.
   */
  async begin(name: string, server: ServerInfo | undefined): Promise<number> {
    const at = this.#clock.now() / 1000
    this.#patch({
      steps: [...this.#receipt.steps, { name, state: 'intended', at }],
      ...(server === undefined || (this.#receipt.server !== undefined && !settles(name))
        ? {}
        : { server: { version: server.version, socketMtimeNs: server.socketMtimeNs } }),
    })
    try {
      await this.#save()
    } catch (error) {
      this.#setState(this.#receipt.steps.length - 1, 'not_sent')
      throw error
    }
    return this.#receipt.steps.length - 1
  }

  /**
   * A step's outcome and what the receipt learns from it. The begin of a step that follows at once shares its commit;
   * else it is written in the same turn of the event loop. What happened, happened: a failing write is kept for later.
   */
  end(place: number, state: StepState, patch: ReceiptPatch = {}): void {
    this.#setState(place, state)
    this.#patch(patch)
    setImmediate(() => {
      if (!this.#saved) this.#save().catch((error: unknown) => this.#tellUnsaved(error))
    })
  }

  /** Durable when it resolves. @throws BridgeError ledger_* */
  async checkpoint(patch: ReceiptPatch): Promise<void> {
    this.#patch(patch)
    await this.#save()
  }

  /** The last write of a mutation: never throws, the answer says whether it is kept. What is not kept is tried on. */
  async finish(patch: ReceiptPatch): Promise<Receipt> {
    this.#patch(patch)
    try {
      await this.#save()
      return this.#receipt
    } catch (error) {
      this.#tellUnsaved(error)
      this.#saveLater()
      return { ...this.#receipt, receiptPersisted: false }
    }
  }

  /** While this process lives its row would be read as running: it learns how it ended as soon as it can be written. */
  #saveLater(): void {
    keepTrying(() => {
      if (!this.#saved) this.#ledger.save(this.#receipt)
      this.#saved = true
    })
  }

  #setState(place: number, state: StepState): void {
    this.#saved = false
    this.#receipt = {
      ...this.#receipt,
      steps: this.#receipt.steps.map((step, index) => (index === place ? { ...step, state } : step)),
    }
  }

  #patch(patch: ReceiptPatch): void {
    this.#saved = false
    this.#receipt = { ...this.#receipt, ...patch, updatedAt: this.#clock.now() / 1000 }
  }

  /** Before the first act one try; after it, what is known must be kept: tries for 5 s. */
  async #save(): Promise<void> {
    const sent = this.#receipt.steps.some((step) => step.state !== 'intended' && step.state !== 'not_sent')
    const until = this.#clock.now() + SAVE_TRIES_MS
    for (;;) {
      try {
        this.#ledger.save(this.#receipt)
        this.#saved = true
        return
      } catch (error) {
        if (!sent || this.#clock.now() >= until) throw error
        await this.#clock.sleep(SAVE_EVERY_MS)
      }
    }
  }

  #tellUnsaved(error: unknown): void {
    const { code, message } = asBridgeError(error)
    this.#log('error', 'receipt_not_saved', { requestId: this.#receipt.requestId, code, message })
  }
}

/** How a mutation ends that threw: a receipt, or nothing at all (design: receipts, Life of a receipt). */
export type Ending = { readonly drop: true } | { readonly drop: false; readonly patch: ReceiptPatch }

const errorOf = (error: BridgeError, code: string = error.code): ReceiptPatch => ({
  error: {
    code,
    message: error.message,
    details: { ...error.details, hint: error.hint, ...(code === error.code ? {} : { cause: error.code }) },
  },
  ...(AppServerError.is(error) ? { rpcError: error.rpc } : {}),
})

/** Decides from the journal, never from the error alone. */
export const endingOf = (receipt: Receipt, thrown: unknown): Ending => {
  const error = asBridgeError(thrown)
  const deciding = receipt.steps.filter((step) => settles(step.name))
  const nothingLeft = receipt.steps.every((step) => step.state === 'not_sent')
  if (nothingLeft && (error.next === 'same_request_id' || error.next === 'fix_call')) return { drop: true }
  if (deciding.some((step) => step.state === 'unknown' || step.state === 'intended'))
    return { drop: false, patch: { status: 'outcome_unknown', next: 'reconcile', ...errorOf(error) } }
  const failed = { status: 'failed' } as const
  if (deciding.some((step) => step.state === 'answered'))
    return { drop: false, patch: { ...failed, next: 'inspect', ...errorOf(error) } }
  const code = TransportError.is(error) ? 'not_sent' : error.code
  const next = error.next === 'inspect' ? 'inspect' : 'new_request_id'
  return { drop: false, patch: { ...failed, next, ...errorOf(error, code) } }
}
