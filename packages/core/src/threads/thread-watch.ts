import { BridgeError, TransportError } from '../contract/errors.ts'
import type { ThreadStatus, Turn } from '../protocol/items.ts'
import { listTurns, threadOf, SETTLING_MS, withLastMessage } from './thread-reading.ts'
import { Doubts, turnIn, type Reading } from './turn-end.ts'
import { Waiter, type WaitOutcome, type WatchContext } from './waiter.ts'

/** The contract's `latest 100 turns`. */
export const TURNS_LOOKED_AT = 100
/** After SETTLING_MS, while a turn's end is doubtful or the server cannot be reached. */
const SLOWEST_RETRY_MS = 1_000
/** In case an event was missed. */
const SAFETY_MS = 15_000

/** Whether a look that failed may work later in the same wait. */
const mayPass = (error: unknown): boolean =>
  (TransportError.is(error) && error.next === 'same_request_id') ||
  (BridgeError.is(error) && (error.code === 'server_shutting_down' || error.code === 'server_overloaded'))

/** All waits for turns of one thread: one look at a time, with the connection of any of them. */
export class ThreadWatch {
  readonly #threadId: string
  readonly #onEmpty: () => void
  readonly #waiters = new Set<Waiter>()
  readonly #doubts = new Doubts()
  /** A status that was broadcast since the last look began. */
  #announced: ThreadStatus | undefined
  #lookAgain = false
  #pause = new AbortController()
  #running = false

  constructor(threadId: string, onEmpty: () => void) {
    this.#threadId = threadId
    this.#onEmpty = onEmpty
  }

  wait(ctx: WatchContext, turnId: string, timeoutMs: number): Promise<WaitOutcome> {
    const waiter = new Waiter(ctx, turnId, timeoutMs, (ended) => this.#remove(ended))
    if (!ctx.signal.aborted) this.#waiters.add(waiter)
    this.look()
    if (!this.#running) void this.#run()
    return waiter.outcome
  }

  close(): void {
    for (const waiter of this.#waiters)
      waiter.fail(
        new BridgeError('host_state', 'The bridge is shutting down; the turn goes on.', {
          next: 'same_request_id',
          hint: 'Wait again once the bridge is back.',
        }),
      )
  }

  announce(status: ThreadStatus): void {
    this.#announced = status
    this.look()
  }

  /** Something happened, or may have: the next look comes at once. */
  look(): void {
    this.#lookAgain = true
    this.#pause.abort()
  }

  #remove(waiter: Waiter): void {
    this.#waiters.delete(waiter)
    if (![...this.#waiters].some(({ turnId }) => turnId === waiter.turnId)) this.#doubts.forget(waiter.turnId)
    if (this.#waiters.size === 0) this.#pause.abort()
  }

  /** Looks and pauses, until nobody waits any more. */
  async #run(): Promise<void> {
    this.#running = true
    let looks = 0
    for (let [waiter] = this.#waiters; waiter !== undefined; [waiter] = this.#waiters) {
      if (this.#lookAgain) looks = 0
      this.#lookAgain = false
      const pauseMs = await this.#look(waiter, looks)
      looks += 1
      if (this.#waiters.size > 0) await this.#rest(waiter, pauseMs)
    }
    this.#running = false
    this.#onEmpty()
  }

  async #rest({ ctx }: Waiter, ms: number): Promise<void> {
    if (this.#lookAgain) return
    this.#pause = new AbortController()
    await ctx.clock.sleep(ms, this.#pause.signal).catch(() => undefined)
  }

  /** One look for all who wait now. Returns how long to pause before the next one. */
  async #look(reader: Waiter, looks: number): Promise<number> {
    const present = [...this.#waiters]
    try {
      const reading = await this.#read(reader.ctx)
      await this.#endTurns(reader.ctx, reading)
      this.#tell(present, reading)
      if (this.#doubts.any) return SETTLING_MS[looks] ?? SLOWEST_RETRY_MS
      return reading.status.type === 'active' ? SAFETY_MS : (SETTLING_MS[looks] ?? SAFETY_MS)
    } catch (error) {
      if (reader.ctx.signal.aborted) return 0
      const passing = mayPass(error)
      for (const waiter of present) {
        if (passing) waiter.miss(error)
        else if (this.#waiters.has(waiter)) waiter.fail(error)
      }
      return SETTLING_MS[looks] ?? SLOWEST_RETRY_MS
    }
  }

  /** The broadcast status if there is one, so that an event costs one call. */
  async #read(ctx: WatchContext): Promise<Reading> {
    const announced = this.#announced
    this.#announced = undefined
    const at = ctx.clock.now()
    const threadId = this.#threadId
    const [status, { data }] = await Promise.all([
      announced ?? threadOf(ctx, threadId).then((thread) => thread.status),
      listTurns(ctx, { threadId, limit: TURNS_LOOKED_AT, itemsView: 'notLoaded', sortDirection: 'desc' }),
    ])
    return { at, status: this.#announced ?? status, turns: data, server: ctx.lastServer() }
  }

  /** Answers those whose turn is over, each turn's message read once for all. */
  async #endTurns(ctx: WatchContext, reading: Reading): Promise<void> {
    const awaited = new Set([...this.#waiters].map(({ turnId }) => turnId))
    for (const turnId of awaited) {
      const turn = turnIn(reading, turnId)
      if (!this.#doubts.ended(reading, turnId) || turn === undefined) continue
      const ended: Turn = await withLastMessage(ctx, this.#threadId, turn, reading.turns.indexOf(turn))
      for (const waiter of this.#waiters)
        if (waiter.turnId === turnId) waiter.end({ timedOut: false, turn: ended })
    }
  }

  /** Answers the others who can be answered, and tells the rest how far it is. */
  #tell(present: readonly Waiter[], reading: Reading): void {
    const flags = reading.status.activeFlags ?? []
    for (const waiter of present) {
      if (!this.#waiters.has(waiter)) continue
      const turn = turnIn(reading, waiter.turnId)
      if (flags.length > 0) waiter.end({ timedOut: false, turn, attention: flags })
      else {
        waiter.ctx.progress(`turn ${turn?.status ?? 'not observed'}, thread ${reading.status.type}`)
        waiter.see(reading)
      }
    }
  }
}
