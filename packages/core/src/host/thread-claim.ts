import { BridgeError } from '../contract/errors.ts'
import type { Clock } from '../contract/tool.ts'
import type { LedgerPort } from '../ledger/port.ts'
import { keepTrying } from './keep-trying.ts'

const CLAIM_WAIT_MS = 30_000
const FIRST_LOOK_MS = 10
const SLOWEST_LOOK_MS = 100

/** The thread that a mutation acts on: one mutation at a time, in the order they came, across processes. */
export class ThreadClaim {
  #threadId: string | undefined
  readonly #ledger: LedgerPort
  readonly #requestId: string

  constructor(ledger: LedgerPort, requestId: string) {
    this.#ledger = ledger
    this.#requestId = requestId
  }

  /** Waits for its turn. @throws BridgeError thread_claimed after 30 s, or the signal's reason */
  async wait(threadId: string, clock: Clock, signal: AbortSignal): Promise<void> {
    this.take(threadId)
    const until = clock.now() + CLAIM_WAIT_MS
    for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 2, SLOWEST_LOOK_MS)) {
      if (this.#ledger.holder(threadId) === this.#requestId) return
      if (clock.now() >= until)
        throw new BridgeError(
          'thread_claimed',
          `Another call has been working on thread ${threadId} for 30 s.`,
        )
      await clock.sleep(pause, signal)
    }
  }

  /** Joins the line without waiting: a thread that was just made has no line. */
  take(threadId: string): void {
    if (this.#threadId !== undefined) return
    this.#ledger.enqueue(threadId, this.#requestId)
    this.#threadId = threadId
  }

  /** Leaves the line, at the latest when the ledger takes it: how the mutation ended is not told by this. */
  release(): void {
    const threadId = this.#threadId
    this.#threadId = undefined
    if (threadId !== undefined) keepTrying(() => this.#ledger.dequeue(threadId, this.#requestId))
  }
}
