import { beforeEach, describe, expect, it } from 'vitest'
import type { ThreadState } from '../../src/threads/thread-watch.ts'
import { settled } from './fake-clock.ts'
import { active, completed, cutOff, idle, threadId, turn } from './fake-thread.ts'
import { startWatching } from './watching.ts'

let world = startWatching()
beforeEach(() => {
  world = startWatching()
})

/** Somebody who follows the thread, and all that was shown. */
const follow = (ctx = world.thread.context()) => {
  const shown: ThreadState[] = []
  const failures: unknown[] = []
  const stop = world.watcher.follow(threadId, {
    ctx,
    see: (state) => shown.push(state),
    miss: (failure) => failures.push(failure),
    fail: (error) => failures.push(error),
  })
  return { shown, failures, stop }
}

describe('following a thread', () => {
  it('shows it at once, and again after each event', async () => {
    world.thread.turns = [turn('a')]
    const { shown, stop } = follow()
    await settled()
    expect(shown).toEqual([{ status: active, turn: turn('a'), ended: false }])
    world.thread.turns = [completed('a')]
    world.thread.announce(idle)
    await settled()
    expect(shown.at(-1)).toEqual({ status: idle, turn: completed('a'), ended: true })
    stop()
    await world.expectQuiet()
  })

  it('believes an interruption without an end only when two looks a second apart agree', async () => {
    world.thread.status = idle
    world.thread.turns = [cutOff('a')]
    const { shown, stop } = follow()
    await settled()
    expect(shown.at(-1)?.ended).toBe(false)
    await world.clock.advance(2_000)
    expect(shown.at(-1)?.ended).toBe(true)
    stop()
    await world.expectQuiet()
  })

  it('shares its looks with waits for turns of the same thread', async () => {
    world.thread.turns = [turn('a')]
    const { shown, stop } = follow()
    const wait = world.wait('a')
    await settled()
    const looks = world.thread.count('thread/turns/list')
    world.thread.turns = [completed('a')]
    world.thread.announce(idle)
    await settled()
    expect(world.thread.count('thread/turns/list')).toBe(looks + 1)
    expect(wait.outcome?.turn?.status).toBe('completed')
    expect(shown.at(-1)?.ended).toBe(true)
    stop()
    await world.expectQuiet()
  })

  it('fails when its own call is given up, and when the host closes', async () => {
    world.thread.turns = [turn('a')]
    const ctx = world.thread.context()
    const one = follow(ctx)
    const two = follow()
    await settled()
    ctx.cancel()
    expect(one.failures).toMatchObject([{ code: 'cancelled' }])
    expect(two.failures).toEqual([])
    world.watcher.close()
    expect(two.failures).toMatchObject([{ code: 'host_state' }])
    two.stop()
    await world.expectQuiet()
  })
})
