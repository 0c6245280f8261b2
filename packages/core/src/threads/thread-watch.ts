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

/** A thread as one look found it. */
export interface ThreadState {
  readonly status: ThreadStatus
  /** The newest one; undefined: the thread has none. */
  readonly turn: Turn | undefined
  /** Whether that turn is over: `interrupted` alone does not say so. */
  readonly ended: boolean
}

/** Who wants every look at a thread, until it leaves. */
export interface Follower {
  readonly ctx: WatchContext
  see(state: ThreadState): void
  /** A look that failed and may work later. */
  miss(failure: unknown): void
  fail(error: unknown): void
}

/** All waits for turns of one thread, and all who follow it: one look at a time, with the connection of any of them. */
export class ThreadWatch {
  readonly #threadId: string
  readonly #onEmpty: () => void
  readonly #waiters = new Set<Waiter>()
  readonly #followers = new Set<Follower>()
  /** The newest turn, while somebody follows the thread. */
  #newest: string | undefined
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

  /** Shows the follower every look from now on. Returns what ends that. */
  follow(follower: Follower): () => void {
    this.#followers.add(follower)
    this.look()
    if (!this.#running) void this.#run()
    return () => {
      this.#followers.delete(follower)
      if (this.#followers.size === 0) this.#forgetNewest()
      if (this.#watching.length === 0) this.#pause.abort()
    }
  }

  /** Everybody that a look is for. */
  get #watching(): readonly (Waiter | Follower)[] {
    return [...this.#waiters, ...this.#followers]
  }

  close(): void {
    for (const watching of this.#watching)
      watching.fail(
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
    if (waiter.turnId !== this.#newest && !this.#awaits(waiter.turnId)) this.#doubts.forget(waiter.turnId)
    if (this.#watching.length === 0) this.#pause.abort()
  }

  #awaits(turnId: string): boolean {
    return [...this.#waiters].some((waiter) => waiter.turnId === turnId)
  }

  #forgetNewest(): void {
    if (this.#newest !== undefined && !this.#awaits(this.#newest)) this.#doubts.forget(this.#newest)
    this.#newest = undefined
  }

  /** Looks and pauses, until nobody waits any more. */
  async #run(): Promise<void> {
    this.#running = true
    let looks = 0
    for (let [reader] = this.#watching; reader !== undefined; [reader] = this.#watching) {
      if (this.#lookAgain) looks = 0
      this.#lookAgain = false
      const pauseMs = await this.#look(reader, looks)
      looks += 1
      if (this.#watching.length > 0) await this.#rest(reader, pauseMs)
    }
    this.#running = false
    this.#onEmpty()
  }

  async #rest({ ctx }: Waiter | Follower, ms: number): Promise<void> {
    if (this.#lookAgain) return
    this.#pause = new AbortController()
    await ctx.clock.sleep(ms, this.#pause.signal).catch(() => undefined)
  }

  /** One look for all who wait now. Returns how long to pause before the next one. */
  async #look(reader: Waiter | Follower, looks: number): Promise<number> {
    const present = [...this.#waiters]
    const followers = [...this.#followers]
    try {
      const reading = await this.#read(reader.ctx)
      await this.#endTurns(reader.ctx, reading)
      this.#tell(present, reading)
      this.#show(followers, reading)
      if (this.#doubts.any) return SETTLING_MS[looks] ?? SLOWEST_RETRY_MS
      return reading.status.type === 'active' ? SAFETY_MS : (SETTLING_MS[looks] ?? SAFETY_MS)
    } catch (error) {
      if (reader.ctx.signal.aborted) return 0
      const passing = mayPass(error)
      for (const waiter of present) {
        if (passing) waiter.miss(error)
        else if (this.#waiters.has(waiter)) waiter.fail(error)
      }
      for (const follower of followers) {
        if (passing) follower.miss(error)
        else if (this.#followers.has(follower)) follower.fail(error)
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

  /** Shows a look to those who follow the thread. */
  #show(followers: readonly Follower[], reading: Reading): void {
    if (followers.length === 0) return
    const [turn] = reading.turns
    if (turn?.id !== this.#newest) this.#forgetNewest()
    this.#newest = turn?.id
    const ended = turn !== undefined && this.#doubts.ended(reading, turn.id)
    for (const follower of followers)
      if (this.#followers.has(follower)) follower.see({ status: reading.status, turn, ended })
  }
}
