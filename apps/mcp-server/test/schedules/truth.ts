import { at, listAt, poll, textAt, type RawClient } from '@codex-thread-bridge/test-fixtures'
import { HOLD, type Stage } from './stage.ts'

/** A user message as the App Server keeps it. */
export interface Kept {
  readonly threadId: string
  readonly turnId: string
  readonly text: string
  readonly clientId: string | undefined
}

export interface Truth {
  readonly messages: readonly Kept[]
  /** Ids of the threads that carry a marker, by marker. */
  readonly threads: ReadonlyMap<string, readonly string[]>
  /** Those that could be resumed. */
  readonly readable: ReadonlySet<string>
}

const PAGE = 100
const QUIET_MS = 20_000

/** Resumes threads past every bridge, lets their queues run empty, and reads all of their user messages. */
export const readTruth = async (
  stage: Stage,
  threadIds: readonly string[],
  sinceMs: number,
): Promise<Truth> => {
  const client = await stage.client()
  const candidates = new Set([...threadIds, ...(await newThreads(client, sinceMs))])
  for (const id of stage.started.keys()) if (timeOf(id) >= sinceMs) candidates.add(id)

  const threads = new Map<string, string[]>()
  const readable = new Set<string>()
  const messages: Kept[] = []
  for (const id of candidates) {
    const marker = stage.started.get(id) ?? (await markerOf(client, id))
    if (marker !== undefined) threads.set(marker, [...(threads.get(marker) ?? []), id])
    const resumed = await client.call('thread/resume', { threadId: id, excludeTurns: true }).catch(() => null)
    if (resumed === null) continue
    await quiet(stage, client, id)
    readable.add(id)
    messages.push(...(await messagesOf(client, id)))
    await client.call('thread/unsubscribe', { threadId: id })
  }
  return { messages, threads, readable }
}

/** The milliseconds in a uuidv7. */
const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

const newThreads = async (client: RawClient, sinceMs: number): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let cursor: unknown; ;) {
    const page = await client.call('thread/loaded/list', { limit: PAGE, ...(cursor ? { cursor } : {}) })
    ids.push(...listAt(page, 'data').map(String))
    cursor = at(page, 'nextCursor')
    if (typeof cursor !== 'string') break
  }
  const listed = await client.call('thread/list', { limit: PAGE, sortKey: 'created_at' })
  ids.push(...listAt(listed, 'data').map((thread) => textAt(thread, 'id')))
  return ids.filter((id) => timeOf(id) >= sinceMs)
}

const markerOf = async (client: RawClient, threadId: string): Promise<string | undefined> => {
  const answer = await client.call('thread/read', { threadId }).catch(() => undefined)
  const source = at(answer, 'thread.threadSource')
  return typeof source === 'string' ? source : undefined
}

/** Until no turn runs and nothing is queued; a turn that a fault left behind is let go. */
const quiet = async (stage: Stage, client: RawClient, threadId: string): Promise<void> => {
  let looks = 0
  await poll(
    async () => {
      stage.release()
      const status = at(await client.call('thread/read', { threadId }), 'thread.status.type')
      const queue = await client.call('thread/queue/list', { threadId }).catch(() => ({ data: [] }))
      const still = status !== 'active' && listAt(queue, 'data').length === 0
      // A message between queue and history is in neither for a moment.
      looks = still ? looks + 1 : 0
      return looks >= 3
    },
    { what: `thread ${threadId} to be quiet`, timeoutMs: QUIET_MS, every: 25 },
  )
}

const messagesOf = async (client: RawClient, threadId: string): Promise<Kept[]> => {
  const kept: Kept[] = []
  for (let cursor: unknown; ;) {
    const page = await client
      .call('thread/items/list', { threadId, limit: PAGE, ...(cursor ? { cursor } : {}) })
      .catch((error: unknown) => {
        if (/not materialized|before first user message/i.test(String(error))) return { data: [] }
        throw error
      })
    for (const entry of listAt(page, 'data')) {
      if (at(entry, 'item.type') !== 'userMessage') continue
      const clientId = at(entry, 'item.clientId')
      kept.push({
        threadId,
        turnId: textAt(entry, 'turnId'),
        text: textAt(entry, 'item.content.0.text'),
        clientId: typeof clientId === 'string' ? clientId : undefined,
      })
    }
    cursor = at(page, 'nextCursor')
    if (typeof cursor !== 'string') return kept.filter(({ text }) => !text.startsWith(HOLD))
  }
}
