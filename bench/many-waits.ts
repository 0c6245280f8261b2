import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Host } from '@codex-thread-bridge/core/host'
import { createReadsPlugin } from '@codex-thread-bridge/reads'
import { at, holdReply } from '@codex-thread-bridge/test-fixtures'
import { countCalls } from './support/calls.ts'
import { startHost } from './support/host.ts'
import { atMost, rowOf, type Row } from './support/row.ts'
import { onStage, startThread, startTurn, type Stage } from './support/stage.ts'

const THREADS = 20
const WAITS = 1_000
/** Longer than the pause after which a wait looks again though nothing happened. */
const QUIET_MS = 20_000
const TIMEOUT_SECONDS = 50
/** One look at a thread for the first wait, and one for all that began during it. */
const GOAL = atMost(2)

interface Turn {
  readonly threadId: string
  readonly turnId: string
}

/** Calls while waits begin, while nothing happens, and until all are answered; growth of the heap while all wait, in MB. */
interface Cost {
  readonly begin: number
  readonly quiet: number
  readonly end: number
  readonly heapMb: number
}

/** A thousand waits for the turns of twenty threads, against one wait a thread. */
export const manyWaits = (): Promise<readonly Row[]> =>
  onStage(async (stage) => {
    const many = await costOf(stage, WAITS)
    const few = await costOf(stage, THREADS)
    const calls = (what: string, part: 'begin' | 'quiet' | 'end'): Row =>
      rowOf({
        what: `1,000 waits : 20 waits, ${what}`,
        unit: 'calls',
        ours: [many[part]],
        baseline: [few[part]],
        goal: GOAL,
      })
    return [
      calls('until all wait', 'begin'),
      calls('20 s without an event', 'quiet'),
      calls('until all are answered', 'end'),
      rowOf({
        what: '1,000 waits begun one by one',
        unit: 'calls',
        ours: [await callsOneByOne(stage)],
      }),
      rowOf({ what: '1,000 waits, heap', unit: 'MB', ours: [many.heapMb] }),
    ]
  })

const costOf = (stage: Stage, waits: number): Promise<Cost> =>
  withHeldTurns(stage, async (host, turns, release) => {
    const counted = countCalls(stage.world)
    const before = heap()
    const { looked, answered } = open(host, turns, waits)
    await looked
    const begin = counted()
    const during = heap()
    await sleep(QUIET_MS)
    const quiet = counted()
    release()
    await answered
    return {
      begin,
      quiet,
      end: counted(),
      heapMb: during - before,
    }
  })

/** The calls until all wait, when each one begins after the one before has been looked for. */
const callsOneByOne = (stage: Stage): Promise<number> =>
  withHeldTurns(stage, async (host, turns, release) => {
    const counted = countCalls(stage.world)
    const answered: Promise<unknown>[] = []
    for (let wait = 0; wait < WAITS; wait += 1) {
      const one = open(host, turns.slice(wait % THREADS), 1)
      answered.push(one.answered)
      await one.looked
    }
    const calls = counted()
    release()
    await Promise.all(answered)
    return calls
  })

/** A host and the active turn of each thread; `release` lets all of them end. */
const withHeldTurns = async <T>(
  { world, raw, stateDir }: Stage,
  act: (host: Host, turns: readonly Turn[], release: () => void) => Promise<T>,
): Promise<T> => {
  const reply = holdReply()
  world.model.always(() => reply)
  const held = world.model.requests.length + THREADS
  const turns: Turn[] = []
  while (turns.length < THREADS) {
    const threadId = await startThread(raw, world.cwd)
    turns.push({ threadId, turnId: await startTurn(raw, threadId, 'Count the files.') })
  }
  await world.model.waitForRequests(held)
  const host = await startHost({ socketPath: world.socketPath, stateDir }, createReadsPlugin())
  // Connects.
  await host.call('list_threads', {})
  const result = await act(host, turns, () => reply.release())
  await host.close()
  return result
}

/** Waits that all begin at once, evenly over the turns. Each one's first progress tells that it has been looked for. */
const open = (host: Host, turns: readonly Turn[], waits: number) => {
  const looked: Promise<void>[] = []
  const answered: Promise<void>[] = []
  for (let wait = 0; wait < waits; wait += 1) {
    const turn = turns[wait % turns.length]
    if (turn === undefined) break
    looked.push(new Promise((resolve) => answered.push(waitFor(host, turn, resolve))))
  }
  return { looked: Promise.all(looked), answered: Promise.all(answered) }
}

const waitFor = async (host: Host, { threadId, turnId }: Turn, looked: () => void): Promise<void> => {
  const args = { thread_id: threadId, turn_id: turnId, timeout_seconds: TIMEOUT_SECONDS }
  const answer = await host.call('wait_thread', args, { progress: looked })
  if (at(answer, 'turn.status') !== 'completed') throw new Error('wait_thread did not see the end')
}

// Known only once the flag is set, and so to no type.
setFlagsFromString('--expose-gc')

/** The heap in MB, without what is garbage already. */
const heap = (): number => {
  runInNewContext('gc()')
  return process.memoryUsage().heapUsed / 2 ** 20
}
