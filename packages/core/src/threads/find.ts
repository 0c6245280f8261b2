import { AppServerError } from '../contract/errors.ts'
import type { ReconcileContext } from '../contract/tool.ts'
import { given } from '../contract/given.ts'
import type { Receipt, Step } from '../ledger/receipt.ts'
import type { Turn } from '../protocol/items.ts'
import { methodSpec, type Result } from '../protocol/methods.ts'
import { isOurs, type RecordedMessage } from './recording.ts'
import { listTurns } from './thread-reading.ts'

const PAGE = 100
const SLACK_MS = 2_000
/** A message that the server had not read yet when its time-out was over may still arrive. */
const ON_ITS_WAY_MS = 60_000
/** At most 12 read calls for one message: these, and the queue twice. They reach back over 1,000 turns. */
const HISTORY_PAGES = 10
const LIST_PAGES = 3
const CANDIDATES = 40

/** What a search looked at; part of the evidence. */
export interface Looked extends Record<string, unknown> {
  calls: number
  pages: number
  window?: { from: number; to: number }
  /** There was more to look at than such a search looks at. */
  partial?: true
  note?: string
}

/** The milliseconds since the epoch in a uuidv7, or undefined for any other id. */
export const timeOfId = (id: string): number | undefined =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-7/i.test(id)
    ? Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
    : undefined

/** The newest step of one of these methods, when it was sent or may have been. */
export const lastSent = (receipt: Receipt, methods: readonly string[]): Step | undefined =>
  receipt.steps.findLast(
    (step) => methods.includes(step.name) && step.state !== 'not_sent' && step.state !== 'rejected',
  )

/** Whether our marker waits in the thread's queue. */
export const inQueue = async (ctx: ReconcileContext, threadId: string, marker: string, looked: Looked) => {
  let cursor: string | undefined
  do {
    looked.calls += 1
    const page = await ctx.call('thread/queue/list', {
      threadId,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    })
    if (page.data.some((queued) => queued.clientUserMessageId === marker))
      return { queued: true, empty: false }
    if (page.nextCursor === null || page.nextCursor === undefined)
      return { queued: false, empty: page.data.length === 0 }
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return { queued: false, empty: true }
}

export interface History {
  readonly message?: RecordedMessage & { readonly first: boolean }
  /** Whether the newest turn still runs: then a message may still come. */
  readonly active: boolean
  /** Whether everything was looked at that could hold the message. */
  readonly complete: boolean
}

/** Whether a turn ran while the message was on its way: then it may have been steered by it. */
const ranAt = (turn: Turn, sentAtMs: number): boolean => {
  const began = timeOfId(turn.id)
  const ended = typeof turn.completedAt === 'number' ? turn.completedAt * 1000 : undefined
  return (
    (began === undefined || began <= sentAtMs + ON_ITS_WAY_MS) &&
    (ended === undefined || ended >= sentAtMs - SLACK_MS)
  )
}

/**
 * Our message in the thread's history: among the first messages of its turns, from the newest back to the send time,
 * then among all items of the turns that ran when it was sent (a summary shows a turn's first message only).
 */
export const inHistory = async (
  ctx: ReconcileContext,
  threadId: string,
  marker: string,
  sentAtMs: number,
  looked: Looked,
): Promise<History> => {
  const steerable: Turn[] = []
  let cursor: string | undefined
  let active = false
  let complete = false
  let pages = 0
  for (; pages < HISTORY_PAGES && !complete; pages += 1) {
    looked.calls += 1
    looked.pages += 1
    const page = await listTurns(ctx, {
      threadId,
      limit: PAGE,
      itemsView: 'summary',
      sortDirection: 'desc',
      ...(cursor === undefined ? {} : { cursor }),
    })
    if (pages === 0) active = page.data[0]?.status === 'inProgress'
    for (const turn of page.data) {
      const message = turn.items.find((item) => isOurs(item, marker))
      if (message !== undefined)
        return { active, complete: true, message: { turnId: turn.id, itemId: message.id, first: true } }
      if (ranAt(turn, sentAtMs)) steerable.push(turn)
      complete = (timeOfId(turn.id) ?? sentAtMs) < sentAtMs - SLACK_MS
      if (complete) break
    }
    cursor = page.nextCursor ?? undefined
    if (cursor === undefined) complete = true
  }
  const steered = await amongItems(ctx, threadId, steerable, marker, looked, HISTORY_PAGES - pages)
  if (!complete || !steered.complete)
    looked.note = 'the history since the message is too long to be looked at whole'
  return { active, complete: complete && steered.complete, ...given({ message: steered.message }) }
}

type Items = Result<'thread/items/list'>

/** Whether a page of a thread's newest items has all of a turn's. */
const holdsWhole = ({ data, nextCursor }: Items, turnId: string): boolean =>
  typeof nextCursor !== 'string' ||
  (data.some((entry) => entry.turnId === turnId) && data.at(-1)?.turnId !== turnId)

/** Our message among all items of these turns, as far as so many pages reach. One page may hold several short turns. */
const amongItems = async (
  ctx: ReconcileContext,
  threadId: string,
  turns: readonly Turn[],
  marker: string,
  looked: Looked,
  pages: number,
): Promise<Pick<History, 'message' | 'complete'>> => {
  let left = pages
  const look = async (of: { readonly turnId?: string; readonly cursor?: string | undefined }) => {
    left -= 1
    looked.calls += 1
    looked.pages += 1
    const page = await ctx.call('thread/items/list', {
      threadId,
      limit: PAGE,
      sortDirection: 'desc',
      ...given(of),
    })
    const entry = page.data.find(({ item }) => isOurs(item, marker))
    return { page, message: entry && { turnId: entry.turnId, itemId: entry.item.id, first: false } }
  }

  const newest = turns.length > 1 && left > 0 ? await look({}) : undefined
  if (newest?.message !== undefined) return { complete: true, message: newest.message }
  for (const turn of turns) {
    if (newest !== undefined && holdsWhole(newest.page, turn.id)) continue
    let cursor: string | undefined
    do {
      if (left === 0) return { complete: false }
      const { page, message } = await look({ turnId: turn.id, cursor })
      if (message !== undefined) return { complete: true, message }
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
  }
  return { complete: true }
}

/** The thread that a lost `thread/start` or `thread/fork` made: by its broadcast, else among the threads that began in its window. */
export const findCreated = async (
  ctx: ReconcileContext,
  marker: string,
  sentAtMs: number,
  looked: Looked,
  method: 'thread/start' | 'thread/fork' = 'thread/start',
): Promise<string | undefined> => {
  const announced = ctx.startedThread(marker)
  if (announced !== undefined) {
    looked.note = 'seen in a thread/started broadcast'
    return announced
  }
  const window = { from: sentAtMs - SLACK_MS, to: sentAtMs + methodSpec(method).timeoutMs + SLACK_MS }
  looked.window = { from: window.from / 1000, to: window.to / 1000 }
  const within = (id: string): boolean => {
    const at = timeOfId(id)
    return at === undefined || (at >= window.from && at <= window.to)
  }
  for (const candidates of [loadedThreads, listedThreads]) {
    const ids = (await candidates(ctx, looked, window.from)).filter(within)
    if (ids.length > CANDIDATES) looked.partial = true
    const found = await markedAmong(ctx, ids.slice(0, CANDIDATES), marker, looked)
    if (found !== undefined) return found
  }
  return undefined
}

const markedAmong = async (ctx: ReconcileContext, ids: readonly string[], marker: string, looked: Looked) => {
  for (const id of ids) {
    looked.calls += 1
    try {
      const { thread } = await ctx.call('thread/read', { threadId: id })
      if (thread.threadSource === marker) return id
    } catch (error) {
      if (!AppServerError.is(error)) throw error
      // A thread that went away is no candidate.
      if (error.code !== 'thread_not_found') looked.partial = true
    }
  }
  return undefined
}

const loadedThreads = async (ctx: ReconcileContext, looked: Looked): Promise<string[]> => {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    looked.calls += 1
    looked.pages += 1
    const page = await ctx.call('thread/loaded/list', {
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    })
    ids.push(...page.data)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return ids
}

/** Threads on disk, archived ones too, newest first, back to the window's begin. */
const listedThreads = async (ctx: ReconcileContext, looked: Looked, from: number): Promise<string[]> => {
  const ids: string[] = []
  for (const archived of [false, true]) {
    let cursor: string | undefined
    for (let pages = 1; ; pages += 1) {
      looked.calls += 1
      looked.pages += 1
      const page = await ctx.call('thread/list', {
        archived,
        limit: PAGE,
        sortKey: 'created_at',
        useStateDbOnly: true,
        ...(cursor === undefined ? {} : { cursor }),
      })
      ids.push(...page.data.map((thread) => thread.id))
      const oldest = page.data.at(-1)
      cursor = page.nextCursor ?? undefined
      if (cursor === undefined || oldest === undefined || (timeOfId(oldest.id) ?? from) < from) break
      if (pages < LIST_PAGES) continue
      looked.partial = true
      break
    }
  }
  return ids
}
