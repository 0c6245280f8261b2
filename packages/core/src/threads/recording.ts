import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { TransportError } from '../contract/errors.ts'
import type { MutationContext } from '../contract/tool.ts'
import type { Item } from '../protocol/items.ts'
import { threadKey } from '../protocol/thread-id.ts'
import { ItemEntry } from '../protocol/items.ts'

const RECORD_WAIT_MS = 2_000
const FIRST_LOOK_MS = 100
const SLOWEST_LOOK_MS = 400
const ITEMS_LOOKED_AT = 20
/** A turn's first message stands near its start; hooks and other items may come before it. */
const HEAD_OF_TURN = 10

const completed = Compile(
  Type.Object({ threadId: Type.String(), turnId: Type.String(), item: ItemEntry.properties.item }),
)

export interface RecordedMessage {
  readonly turnId: string
  readonly itemId: string
}

type Recording = MutationContext<'thread/items/list'>

export const isOurs = (item: Item, marker: string): boolean =>
  item.type === 'userMessage' && item.clientId === marker

/** Watches a thread for the durable user message that carries our marker. Begin before the message is sent. */
export const watchForMessage = (ctx: Recording, threadId: string) => {
  const { marker } = ctx.receipt
  let seen: RecordedMessage | undefined
  let wake = (): void => undefined
  const stop = ctx.observe(({ method, params }) => {
    if (method !== 'item/completed' || !completed.Check(params)) return
    if (threadKey(params.threadId) !== threadKey(threadId)) return
    if (marker === undefined || !isOurs(params.item, marker)) return
    seen = { turnId: params.turnId, itemId: params.item.id }
    wake()
  })

  const look = async (): Promise<RecordedMessage | undefined> => {
    const page = await ctx.call('thread/items/list', {
      threadId,
      limit: ITEMS_LOOKED_AT,
      sortDirection: 'desc',
    })
    const entry = page.data.find(({ item }) => marker !== undefined && isOurs(item, marker))
    return entry && { turnId: entry.turnId, itemId: entry.item.id }
  }

  /** Sleeps until the notification or the next look is due. */
  const pause = async (ms: number): Promise<void> => {
    if (seen !== undefined) return
    const awake = new AbortController()
    wake = () => awake.abort()
    await ctx.clock.sleep(ms, awake.signal).catch(() => undefined)
  }

  return {
    /** The recorded message, or undefined when it did not show within 2 s (or markers are off). Never throws for want of a connection. */
    async recorded(): Promise<RecordedMessage | undefined> {
      if (marker === undefined) return undefined
      const until = ctx.clock.now() + RECORD_WAIT_MS
      for (let ms = FIRST_LOOK_MS; ; ms = Math.min(ms * 2, SLOWEST_LOOK_MS)) {
        await pause(ms)
        if (seen !== undefined) return seen
        const found = await look().catch(() => undefined)
        if (found !== undefined) return found
        if (ctx.clock.now() >= until) return undefined
      }
    },
    stop,
  }
}

/** Whether our message is the turn's first one: then the turn is ours, else it was steered. */
export const startedTurn = async (ctx: Recording, threadId: string, turnId: string): Promise<boolean> => {
  const page = await ctx.call('thread/items/list', {
    threadId,
    turnId,
    limit: HEAD_OF_TURN,
    sortDirection: 'asc',
  })
  const first = page.data.find(({ item }) => item.type === 'userMessage')
  return first === undefined || ctx.receipt.marker === undefined || isOurs(first.item, ctx.receipt.marker)
}

/** Ends the subscription that thread/start or thread/resume made; its outcome changes nothing. */
export const unsubscribe = async (
  ctx: MutationContext<'thread/unsubscribe'>,
  threadId: string,
): Promise<void> => {
  await ctx.call('thread/unsubscribe', { threadId }).catch((error: unknown) => {
    ctx.log('debug', 'unsubscribe_failed', { threadId, transport: TransportError.is(error) })
  })
}
