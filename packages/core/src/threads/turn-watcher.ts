import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { BridgeError } from '../contract/errors.ts'
import { ThreadStatus } from '../protocol/items.ts'
import { threadKey } from '../protocol/thread-id.ts'
import { ThreadWatch, type Follower } from './thread-watch.ts'
import type { WaitOutcome, WatchContext } from './waiter.ts'

const statusChanged = Compile(Type.Object({ threadId: Type.String(), status: ThreadStatus }))

export interface TurnToAwait {
  readonly threadId: string
  readonly turnId: string
  /** 0: one look. Never beyond the context's deadline. */
  readonly timeoutMs: number
}

export interface TurnWatcher {
  /**
   * Resolves when that turn has ended, when its thread needs a person, or at the time-out (contract: wait_thread).
   * @throws BridgeError cancelled, host_state; what the App Server says of the thread; at the time-out what kept it from being read
   */
  wait(ctx: WatchContext, turn: TurnToAwait): Promise<WaitOutcome>
  /**
   * Shows the follower every look at a thread, the first at once, until the returned function is called or its own call
   * is given up (then it fails).
   */
  follow(threadId: string, follower: Follower): () => void
  /** Ends every wait with an error: the host closes. */
  close(): void
}

/** One observer for all waits: a thread is looked at once for all who wait for its turns. */
export const createTurnWatcher = (): TurnWatcher => {
  /** By threadKey: broadcasts have the server's spelling of an id, callers their own. */
  const watches = new Map<string, ThreadWatch>()
  let waiting = 0
  let stopObserving = (): void => undefined

  const observe = (ctx: WatchContext): (() => void) =>
    ctx.observe(
      ({ method, params }) => {
        if (method === 'thread/status/changed' && statusChanged.Check(params))
          watches.get(threadKey(params.threadId))?.announce(params.status)
      },
      () => watches.forEach((watch) => watch.look()),
    )

  const watchOf = (threadId: string): ThreadWatch => {
    const key = threadKey(threadId)
    const watch = watches.get(key) ?? new ThreadWatch(threadId, () => watches.delete(key))
    watches.set(key, watch)
    return watch
  }

  /** Broadcasts are listened to as long as anybody waits. */
  const enter = (ctx: WatchContext): void => {
    if (waiting === 0) stopObserving = observe(ctx)
    waiting += 1
  }
  const leave = (): void => {
    waiting -= 1
    if (waiting === 0) stopObserving()
  }

  return {
    async wait(ctx, { threadId, turnId, timeoutMs }) {
      enter(ctx)
      try {
        return await watchOf(threadId).wait(ctx, turnId, timeoutMs)
      } finally {
        leave()
      }
    },
    follow(threadId, follower) {
      const { ctx } = follower
      enter(ctx)
      const unfollow = watchOf(threadId).follow(follower)
      let following = true
      const stop = (): void => {
        if (!following) return
        following = false
        ctx.signal.removeEventListener('abort', cancel)
        unfollow()
        leave()
      }
      const cancel = (): void => {
        stop()
        follower.fail(new BridgeError('cancelled', 'The wait was cancelled.'))
      }
      ctx.signal.addEventListener('abort', cancel)
      if (ctx.signal.aborted) cancel()
      return stop
    },
    close: () => watches.forEach((watch) => watch.close()),
  }
}
