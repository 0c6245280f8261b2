import { AppServerError, BridgeError } from '../contract/errors.ts'
import type { ReadContext } from '../contract/tool.ts'
import type { Item, Thread, Turn } from '../protocol/items.ts'
import type { Method, Params, Result } from '../protocol/methods.ts'

type Calls<M extends Method> = Pick<ReadContext<M>, 'call' | 'clock' | 'signal'>

/** Between reads of a thread that something is just happening to. */
export const SETTLING_MS = [10, 25, 50, 100, 250, 1_000] as const

/** What the App Server answers for a thread that keeps the older kind of history. */
const NOT_SUPPORTED = -32_601
const MESSAGE_PAGE = 20
const MESSAGE_PAGES = 5
/** Room for turns that began since the turn's place was read, and for itself. */
const NEWER_MEANWHILE = 5

/**
 * A read of a thread by the id that the caller gave.
 * @throws BridgeError unknown_thread when the App Server knows none of that id
 */
export const ofKnownThread = async <T>(
  threadId: string,
  read: Promise<T>,
  field = 'thread_id',
): Promise<T> => {
  try {
    return await read
  } catch (error) {
    if (!AppServerError.is(error) || error.code !== 'thread_not_found') throw error
    throw new BridgeError(
      'unknown_thread',
      `The App Server knows no thread ${threadId} (${error.rpc.message}).`,
      { field, cause: error },
    )
  }
}

/**
 * Reads again for 1.4 s what the App Server refuses in words without a code of ours: while a thread's first turn begins
 * it says that the rollout is empty, or that paginated threads are not supported yet (measured).
 */
const onceReadable = async <T>(
  ctx: Pick<Calls<never>, 'clock' | 'signal'>,
  read: () => Promise<T>,
): Promise<T> => {
  for (const ms of SETTLING_MS) {
    try {
      return await read()
    } catch (error) {
      if (!AppServerError.is(error) || error.code !== 'app_server_error') throw error
      await ctx.clock.sleep(ms, ctx.signal)
    }
  }
  return read()
}

/** The thread, without loading it. */
export const threadOf = async (ctx: Calls<'thread/read'>, threadId: string): Promise<Thread> =>
  (await onceReadable(ctx, () => ctx.call('thread/read', { threadId }))).thread

/** A page of turns; a thread without a turn has an empty one. */
export const listTurns = async (
  ctx: Calls<'thread/turns/list'>,
  params: Params<'thread/turns/list'>,
): Promise<Result<'thread/turns/list'>> => {
  try {
    return await onceReadable(ctx, () => ctx.call('thread/turns/list', params))
  } catch (error) {
    if (!AppServerError.is(error) || error.code !== 'thread_not_materialized') throw error
    return { data: [], nextCursor: null }
  }
}

const isMessage = (item: Item): boolean => item.type === 'agentMessage'

/** The turn's newest agent message among its newest 100 items. */
const newestMessage = async (
  ctx: Calls<'thread/items/list'>,
  threadId: string,
  turnId: string,
): Promise<Item | undefined> => {
  let cursor: string | undefined
  for (let pages = 0; pages < MESSAGE_PAGES; pages += 1) {
    const page = await ctx.call('thread/items/list', {
      threadId,
      turnId,
      limit: MESSAGE_PAGE,
      sortDirection: 'desc',
      ...(cursor === undefined ? {} : { cursor }),
    })
    const found = page.data.find(({ item }) => isMessage(item))
    if (found !== undefined) return found.item
    cursor = page.nextCursor ?? undefined
    if (cursor === undefined) return undefined
  }
  return undefined
}

/** The turn, with its last agent message as its only item if it has one. */
export const withLastMessage = async (
  ctx: Calls<'thread/items/list' | 'thread/turns/list'>,
  threadId: string,
  turn: Turn,
  place: number,
): Promise<Turn> => {
  const message = await newestMessage(ctx, threadId, turn.id).catch(async (error: unknown) => {
    if (!AppServerError.is(error) || error.rpc.code !== NOT_SUPPORTED) throw error
    return messageOfSummary(ctx, threadId, turn.id, place)
  })
  return message === undefined ? turn : { ...turn, items: [message], itemsView: 'summary' }
}

/** Threads with the older history have no item list, but their turns have a summary. */
const messageOfSummary = async (
  ctx: Calls<'thread/turns/list'>,
  threadId: string,
  turnId: string,
  place: number,
): Promise<Item | undefined> => {
  const limit = place + NEWER_MEANWHILE
  const { data } = await ctx.call('thread/turns/list', { threadId, limit, itemsView: 'summary' })
  return data.find(({ id }) => id === turnId)?.items.findLast(isMessage)
}
