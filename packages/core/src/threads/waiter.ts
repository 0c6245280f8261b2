import { BridgeError } from '../contract/errors.ts'
import type { ReadContext } from '../contract/tool.ts'
import type { Turn } from '../protocol/items.ts'
import { turnIn, type Reading } from './turn-end.ts'

export type WatchContext = Pick<
  ReadContext<'thread/items/list' | 'thread/read' | 'thread/turns/list'>,
  'call' | 'clock' | 'deadline' | 'lastServer' | 'observe' | 'progress' | 'signal'
>

/** How a wait ended. */
export interface WaitOutcome {
  readonly timedOut: boolean
  /** As read last; with its last agent message when it has ended. Undefined: not among the newest turns. */
  readonly turn: Turn | undefined
  /** What the thread needs a person for. */
  readonly attention?: readonly string[]
}

/** One wait for one turn: its limits in time, and what it has seen so far. */
export class Waiter {
  readonly ctx: WatchContext
  readonly turnId: string
  readonly outcome: Promise<WaitOutcome>
  /** Its time is over: the next look answers it. */
  expired = false
  #seen: Reading | undefined
  #failure: unknown
  #resolve: (outcome: WaitOutcome) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined
  readonly #left = new AbortController()
  readonly #onEnd: (waiter: Waiter) => void
  readonly #cancel = (): void => this.fail(new BridgeError('cancelled', 'The wait was cancelled.'))

  constructor(ctx: WatchContext, turnId: string, timeoutMs: number, onEnd: (waiter: Waiter) => void) {
    this.ctx = ctx
    this.turnId = turnId
    this.#onEnd = onEnd
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    ctx.signal.addEventListener('abort', this.#cancel)
    void this.#limit(timeoutMs)
  }

  /** A look that began after this wait did. */
  see(reading: Reading): void {
    this.#seen = reading
    if (this.expired) this.#timeOut(reading)
  }

  /** A look that failed and may work later. */
  miss(failure: unknown): void {
    this.#failure = failure
    if (this.expired) this.fail(failure)
  }

  end(outcome: WaitOutcome): void {
    this.#leave()
    this.#resolve(outcome)
  }

  fail(error: unknown): void {
    this.#leave()
    this.#reject(error)
  }

  /** The time-out; without any look so far the next one answers, and the end of the call budget is final. */
  async #limit(timeoutMs: number): Promise<void> {
    const { clock, deadline, signal } = this.ctx
    if (signal.aborted) return this.#cancel()
    const patience = Math.min(timeoutMs, deadline - clock.now())
    try {
      if (patience > 0) await clock.sleep(patience, this.#left.signal)
      this.expired = true
      if (this.#seen !== undefined) return this.#timeOut(this.#seen)
      if (this.#failure !== undefined) return this.fail(this.#failure)
      await clock.sleep(Math.max(0, deadline - clock.now()), this.#left.signal)
      this.fail(new BridgeError('request_timeout', 'The App Server did not answer before the wait was over.'))
    } catch {
      // It ended before its time.
    }
  }

  #timeOut(reading: Reading): void {
    this.end({ timedOut: true, turn: turnIn(reading, this.turnId) })
  }

  #leave(): void {
    this.ctx.signal.removeEventListener('abort', this.#cancel)
    this.#left.abort()
    this.#onEnd(this)
  }
}
