import type { Host } from '@codex-thread-bridge/core/host'
import { at, type World } from '@codex-thread-bridge/test-fixtures'
import { createThreadsPlugin } from '@codex-thread-bridge/threads'
import { countCalls } from './support/calls.ts'
import { startHost } from './support/host.ts'
import { timed } from './support/interleave.ts'
import { heard, type RawConnection } from './support/raw-connection.ts'
import { rowOf, within, type Row } from './support/row.ts'
import { onStage, runTurn, startThread } from './support/stage.ts'

const TURNS = 1_000
const PLACES = ['first', 'in the middle', 'last'] as const
type Place = (typeof PLACES)[number]
/** Messages whose answer is lost, at each place. */
const LOST = 3
const BETWEEN = (TURNS - 1 - LOST * PLACES.length) / (PLACES.length - 1)
const GOAL = within(12, 'calls')

/** What it takes to find a message whose answer was lost, on a thread of a thousand turns. */
export const reconcile = (): Promise<readonly Row[]> =>
  onStage(async ({ world, raw, stateDir }) => {
    const host = await startHost({ socketPath: world.socketPath, stateDir }, createThreadsPlugin())
    const lost = await fill(world, raw, host)
    const counted = countCalls(world)
    const rows: Row[] = []
    for (const place of PLACES.toReversed()) {
      const calls: number[] = []
      const ms: number[] = []
      for (const requestId of lost.get(place) ?? []) {
        counted()
        ms.push(await timed(() => find(host, requestId)))
        calls.push(counted())
      }
      const what = `reconcile, sent ${place} of 1,000 turns`
      rows.push(
        rowOf({ what, unit: 'calls', ours: calls, goal: GOAL }),
        rowOf({ what, unit: 'ms', ours: ms }),
      )
    }
    await host.close()
    return rows
  })

const find = async (host: Host, requestId: string): Promise<void> => {
  const { reconciliation } = await host.operations.reconcile(requestId)
  if (reconciliation?.verdict !== 'delivered')
    console.error(`${requestId}: ${JSON.stringify(reconciliation)}`)
}

/** The request ids of the lost messages, in a thread that has nothing but them and plain turns. */
const fill = async (
  world: World,
  raw: RawConnection,
  host: Host,
): Promise<ReadonlyMap<Place, readonly string[]>> => {
  const lost = new Map<Place, string[]>()
  const threadId = await startThread(raw, world.cwd)
  // A thread without a turn cannot be resumed yet.
  await runTurn(raw, threadId, 'Count the files.')
  for (const place of PLACES) {
    if (lost.size > 0)
      for (let turn = 1; turn <= BETWEEN; turn += 1) await runTurn(raw, threadId, 'Count the files.')
    const ids = Array.from({ length: LOST }, (_, number) => `${place} ${String(number)}`)
    for (const requestId of ids) await sendLost(world, raw, host, threadId, requestId)
    lost.set(place, ids)
  }
  return lost
}

/** The server carries the message out, and its answer is lost. */
const sendLost = async (
  world: World,
  raw: RawConnection,
  host: Host,
  threadId: string,
  requestId: string,
): Promise<void> => {
  const request = { direction: 'to-server', kind: 'request', method: 'turn/start' } as const
  const rule = world.proxy.on(request, { cut: 'after' })
  const ended = heard(raw, (method) => method === 'turn/completed')
  const args = { request_id: requestId, thread_id: threadId, message: 'Count them again.' }
  const receipt = await host.call('send_message_to_thread', args)
  if (at(receipt, 'status') !== 'outcome_unknown') throw new Error(`not lost: ${JSON.stringify(receipt)}`)
  await ended
  rule.remove()
}
