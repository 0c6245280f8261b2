import type { Host } from '@codex-thread-bridge/core/host'
import { at, poll, textAt } from '@codex-thread-bridge/test-fixtures'
import { createThreadsPlugin } from '@codex-thread-bridge/threads'
import { startHost } from './support/host.ts'
import { interleave, timed } from './support/interleave.ts'
import { heard, type RawConnection } from './support/raw-connection.ts'
import { atMost, rowOf, type Row } from './support/row.ts'
import { onStage } from './support/stage.ts'

const ROUNDS = { warmUp: 5, rounds: 100 }
const PROMPT = 'Count the files.'

/** create_thread with a prompt until it is recorded, ledger and all, against its bare calls in the same order. */
export const createThread = (): Promise<readonly Row[]> =>
  onStage(async (stage) => {
    const { world, raw } = stage
    const host = await startHost(stage, createThreadsPlugin())
    const atRest = restOf(raw)
    let round = 0
    const measured = async (create: (requestId: string) => Promise<string>): Promise<number> => {
      const requestId = `bench-${String((round += 1))}`
      let threadId = ''
      const ms = await timed(async () => (threadId = await create(requestId)))
      // The rest of the turn is the App Server's own work: it must not meet the next round.
      await poll(() => atRest.has(threadId), { what: 'the turn to end' })
      return ms
    }
    const samples = await interleave(
      {
        ours: () => measured((requestId) => throughHost(host, requestId, world.cwd)),
        baseline: () => measured((requestId) => bareCalls(raw, requestId, world.cwd)),
      },
      ROUNDS,
    )
    await host.close()
    return [rowOf({ what: 'create_thread : its bare calls', unit: 'ms', ...samples, goal: atMost(1.3) })]
  })

/** The threads that are idle again after a turn. Every connection hears of that. */
const restOf = (raw: RawConnection): ReadonlySet<string> => {
  const active = new Set<string>()
  const atRest = new Set<string>()
  raw.listen((method, params) => {
    if (method !== 'thread/status/changed') return
    const threadId = textAt(params, 'threadId')
    if (at(params, 'status.type') === 'active') active.add(threadId)
    else if (active.has(threadId)) atRest.add(threadId)
  })
  return atRest
}

const throughHost = async (host: Host, requestId: string, cwd: string): Promise<string> => {
  const receipt = await host.call('create_thread', { request_id: requestId, cwd, prompt: PROMPT })
  const state = at(receipt, 'delivery.state')
  if (state !== 'recorded') throw new Error(`create_thread ended ${String(state)}`)
  return textAt(receipt, 'threadId')
}

const bareCalls = async (raw: RawConnection, requestId: string, cwd: string): Promise<string> => {
  const started = await raw.call('thread/start', {
    cwd,
    approvalPolicy: 'never',
    ephemeral: false,
    permissions: ':read-only',
    threadSource: requestId,
  })
  const threadId = textAt(started, 'thread.id')
  await raw.call('thread/section/move', { threadId, sectionId: null })
  await raw.call('thread/settings/update', { threadId, permissions: ':read-only' })
  const recorded = heard(
    raw,
    (method, params) => method === 'item/completed' && at(params, 'item.clientId') === requestId,
  )
  const input = [{ type: 'text', text: PROMPT }]
  const begun = await raw.call('turn/start', { threadId, input, clientUserMessageId: requestId })
  await recorded
  await raw.call('thread/items/list', {
    threadId,
    turnId: textAt(begun, 'turn.id'),
    limit: 10,
    sortDirection: 'asc',
  })
  await raw.call('thread/unsubscribe', { threadId })
  return threadId
}
