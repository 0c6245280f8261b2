import { expect } from 'vitest'
import { createTurnWatcher } from '../../src/threads/turn-watcher.ts'
import type { WaitOutcome, WatchContext } from '../../src/threads/waiter.ts'
import { fakeClock } from './fake-clock.ts'
import { fakeThread, threadId } from './fake-thread.ts'

export interface WaitState {
  outcome?: WaitOutcome
  error?: unknown
  /** How long it took, on the fake clock. */
  afterMs?: number
}

/** A watcher of one pretended thread on a clock that stands still. */
export const startWatching = () => {
  const clock = fakeClock()
  const thread = fakeThread(clock)
  const watcher = createTurnWatcher()

  /** A wait and what has become of it. */
  const wait = (turnId: string, timeoutMs = 20_000, ctx: WatchContext = thread.context()): WaitState => {
    const begun = clock.now()
    const state: WaitState = {}
    watcher.wait(ctx, { threadId, turnId, timeoutMs }).then(
      (outcome) => Object.assign(state, { outcome, afterMs: clock.now() - begun }),
      (error: unknown) => Object.assign(state, { error, afterMs: clock.now() - begun }),
    )
    return state
  }

  /** Nothing is left behind: no timer, no listener, no further call. */
  const expectQuiet = async (): Promise<void> => {
    const calls = thread.calls.length
    expect(clock.sleeping).toBe(0)
    expect(thread.listeners).toBe(0)
    await clock.advance(60_000)
    expect(thread.calls.length).toBe(calls)
  }

  return { clock, thread, watcher, wait, expectQuiet }
}
