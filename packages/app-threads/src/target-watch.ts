import { asBridgeError, type BridgeError, type ReadContext } from '@codex-thread-bridge/core/contract'
import type { OperationsPort } from '@codex-thread-bridge/core/host'
import type { Follower, ThreadState, TurnWatcher } from '@codex-thread-bridge/core/threads'
import { findCreation, isClientThreadId, type Creation } from './client-thread.ts'
import { seenPending, viewOf, wakeOf, type View, type Wake } from './thread-view.ts'

/** Between looks at the receipt of a creation that is still going on. */
const CREATION_LOOK_MS = 200
/** A thread without a turn must be seen so for this long: a turn that begins shows late. */
const SETTLED_MS = 1_000

export interface Target {
  readonly threadId: string
  readonly afterCursor?: string | undefined
}

export type WaitContext = ReadContext<'thread/read' | 'thread/turns/list' | 'thread/items/list'>

/** What a wait knows of one of its targets. */
export class TargetWatch {
  /** The id that the client used. */
  readonly threadId: string
  readonly before: View | undefined
  readonly cursorReset: boolean
  creation: Creation | undefined
  state: ThreadState | undefined
  wake: Wake | undefined
  /** Why it cannot be watched. */
  error: BridgeError | undefined
  /** What kept the last look from being answered. */
  missed: BridgeError | undefined
  readonly #ctx: WaitContext
  readonly #watcher: TurnWatcher
  readonly #onChange: () => void
  readonly #left = new AbortController()
  #unfollow = (): void => undefined
  #inactiveSince: number | undefined

  constructor(ctx: WaitContext, watcher: TurnWatcher, target: Target, onChange: () => void) {
    this.threadId = target.threadId
    this.before = target.afterCursor === undefined ? undefined : viewOf(target.afterCursor, target.threadId)
    this.cursorReset = target.afterCursor !== undefined && this.before === undefined
    this.#ctx = ctx
    this.#watcher = watcher
    this.#onChange = onChange
  }

  /** The thread's own id, once it has one. */
  get realThreadId(): string | undefined {
    return isClientThreadId(this.threadId) ? this.creation?.threadId : this.threadId
  }

  /** Whether there is something to answer of it. */
  get known(): boolean {
    return this.state !== undefined || this.error !== undefined || this.creation !== undefined
  }

  /** Whether the wait need not go on for it. */
  get done(): boolean {
    return this.wake !== undefined || this.error !== undefined
  }

  start(operations: OperationsPort): void {
    if (isClientThreadId(this.threadId)) void this.#awaitCreation(operations)
    else this.#follow(this.threadId)
  }

  stop(): void {
    this.#left.abort()
    this.#unfollow()
  }

  /** A creation goes on without us; its receipt tells how far it is. */
  async #awaitCreation(operations: OperationsPort): Promise<void> {
    const { clock, signal } = this.#ctx
    try {
      while (!this.#left.signal.aborted) {
        const creation = await findCreation(operations, this.threadId, { signal })
        const news = creation.phase !== this.creation?.phase
        this.creation = creation
        if (creation.phase === 'ready' && creation.threadId !== undefined)
          return this.#follow(creation.threadId)
        if (creation.phase === 'failed' || creation.outcomeUnknown === true) {
          if (seenPending(creation, this.before).changed) this.wake = { reason: 'inactiveStatus' }
          return this.#onChange()
        }
        if (news) this.#onChange()
        await clock.sleep(CREATION_LOOK_MS, AbortSignal.any([signal, this.#left.signal]))
      }
    } catch (error) {
      if (!this.#left.signal.aborted) this.#fail(error)
    }
  }

  #follow(threadId: string): void {
    if (this.#left.signal.aborted) return
    const follower: Follower = {
      ctx: this.#ctx,
      see: (state) => this.#see(state),
      miss: (failure) => {
        this.missed = asBridgeError(failure)
      },
      fail: (error) => this.#fail(error),
    }
    this.#unfollow = this.#watcher.follow(threadId, follower)
  }

  #see(state: ThreadState): void {
    this.state = state
    this.missed = undefined
    const inactive = state.turn === undefined && state.status.type !== 'active'
    this.#inactiveSince = inactive ? (this.#inactiveSince ?? this.#ctx.clock.now()) : undefined
    const settled =
      this.#inactiveSince !== undefined && this.#ctx.clock.now() - this.#inactiveSince >= SETTLED_MS
    this.wake = wakeOf(state, this.before, settled)
    this.#onChange()
  }

  #fail(error: unknown): void {
    this.error = asBridgeError(error)
    this.#onChange()
  }
}
