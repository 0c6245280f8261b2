import type { Receipt } from '../ledger/receipt.ts'

/** One mutation that runs in this process: later calls with its id join it. */
export class Running {
  readonly fingerprint: string
  readonly done: Promise<Receipt>
  readonly #controller: AbortController
  #waiting = 0
  #receipt: Receipt

  constructor(
    fingerprint: string,
    receipt: Receipt,
    start: (cancel: AbortSignal, onReceipt: (r: Receipt) => void) => Promise<Receipt>,
  ) {
    this.fingerprint = fingerprint
    this.#receipt = receipt
    this.#controller = new AbortController()
    this.done = start(this.#controller.signal, (current) => {
      this.#receipt = current
    })
  }

  /** As it stands now. */
  get receipt(): Receipt {
    return this.#receipt
  }

  /** One more caller waits; the action is given up only when the last of them has left. */
  join(signal: AbortSignal | undefined): void {
    this.#waiting += 1
    signal?.addEventListener(
      'abort',
      () => {
        this.#waiting -= 1
        if (this.#waiting === 0) this.#controller.abort()
      },
      { once: true },
    )
    if (signal?.aborted === true) {
      this.#waiting -= 1
      if (this.#waiting === 0) this.#controller.abort()
    }
  }
}
