import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { at, listAt, poll, textAt, type World } from '@codex-thread-bridge/test-fixtures'

/** Our message in a thread's history. */
export interface Found {
  readonly turnId: string
  readonly itemId: string
}

/** What really is on the App Server, seen by another client past the proxies. */
export interface Truth {
  /** The threads that carry a marker: loaded, listed or only on disk. */
  threadsWith(marker: string): Promise<readonly string[]>
  /** Resolves when no turn runs and none is about to. */
  quiet(threadId: string): Promise<void>
  /** The user messages with exactly this text; resumes the thread first, because a crash hides its last turn. */
  messages(threadId: string, text: string): Promise<readonly Found[]>
  /** Of a loaded thread. */
  isRecorded(threadId: string, text: string): Promise<boolean>
  /** After the App Server was started again. */
  reopen(): Promise<void>
}

/** A message on its way from the queue into the history is in neither for up to 59 ms. */
const QUIET_LOOKS = 4
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\.jsonl$)/

export const openTruth = async (world: World): Promise<Truth> => {
  let client = await world.openClient()
  const sources = new Map<string, unknown>()

  const sourceOf = async (threadId: string): Promise<unknown> => {
    if (!sources.has(threadId)) {
      const read = await client.call('thread/read', { threadId }).catch(() => undefined)
      if (read === undefined) return undefined
      sources.set(threadId, at(read, 'thread.threadSource'))
    }
    return sources.get(threadId)
  }
  const pages = async (method: string, params: object): Promise<unknown[]> => {
    const all: unknown[] = []
    for (let cursor: unknown; ;) {
      const page = await client.call(method, { limit: 100, ...params, ...(cursor ? { cursor } : {}) })
      all.push(...listAt(page, 'data'))
      cursor = at(page, 'nextCursor')
      if (!cursor) return all
    }
  }
  const onDisk = (): string[] => {
    const sessions = join(world.home.path, 'sessions')
    const paths = existsSync(sessions) ? readdirSync(sessions, { recursive: true, encoding: 'utf8' }) : []
    return paths.flatMap((path) => UUID.exec(path)?.[0] ?? [])
  }
  const messagesOf = async (threadId: string, text: string): Promise<Found[]> =>
    (await pages('thread/items/list', { threadId })).flatMap((entry) => {
      const texts = at(entry, 'item.type') === 'userMessage' ? listAt(entry, 'item.content') : []
      return texts.some((part) => at(part, 'text') === text)
        ? [{ turnId: textAt(entry, 'turnId'), itemId: textAt(entry, 'item.id') }]
        : []
    })

  const quiet = async (threadId: string): Promise<void> => {
    let quietLooks = 0
    await poll(
      async () => {
        const queue = await client
          .call('thread/queue/list', { threadId, limit: 1 })
          .catch(() => ({ data: [] }))
        const read = await client.call('thread/read', { threadId })
        const status = at(read, 'thread.status.type')
        // The queue of a thread that is not loaded waits for a resume.
        const still = status === 'notLoaded' || (status !== 'active' && listAt(queue, 'data').length === 0)
        quietLooks = still ? quietLooks + 1 : 0
        return quietLooks === QUIET_LOOKS
      },
      { what: `thread ${threadId} to be quiet`, timeoutMs: 30_000, every: 50 },
    )
  }

  return {
    async threadsWith(marker) {
      const listed = [false, true].map((archived) => pages('thread/list', { archived }))
      const ids = new Set<string>([
        ...(await pages('thread/loaded/list', {})).map(String),
        ...(await Promise.all(listed)).flat().map((thread) => textAt(thread, 'id')),
        ...onDisk(),
      ])
      const found = await Promise.all(
        [...ids].map(async (id) => ((await sourceOf(id)) === marker ? [id] : [])),
      )
      return found.flat()
    },
    quiet,
    async messages(threadId, text) {
      const resumed = await client
        .call('thread/resume', { threadId, excludeTurns: true })
        .catch(() => undefined)
      if (resumed === undefined) return []
      await quiet(threadId)
      return messagesOf(threadId, text)
    },
    isRecorded: async (threadId, text) => (await messagesOf(threadId, text)).length > 0,
    reopen: async () => {
      client = await world.openClient()
    },
  }
}
