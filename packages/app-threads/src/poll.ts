import { given, TransportError } from '@codex-thread-bridge/core/contract'
import type { Item, Turn } from '@codex-thread-bridge/core/protocol'
import { cutText, CutText, withLastMessage, type ThreadState } from '@codex-thread-bridge/core/threads'
import { Type } from 'typebox'
import { Creation } from './client-thread.ts'
import { HOST } from './input.ts'
import { fieldsOf } from './item-fields.ts'
import type { TargetWatch, WaitContext } from './target-watch.ts'
import { cursorOf, seen, seenPending } from './thread-view.ts'

const MESSAGE_CHARS = 2_000
const ITEMS = 20

const Nullable = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Union([schema, Type.Null()])
const OptionalText = Type.Optional(Type.String())

/** One target of wait_threads, as its answer shows it. */
export const Poll = Type.Object({
  cursor: Type.String(),
  revision: Type.Integer(),
  changed: Type.Boolean(),
  cursorReset: Type.Optional(Type.Boolean()),
  thread: Type.Object({
    id: Type.String(),
    hostId: Type.String(),
    status: Type.Object({ type: Type.String(), activeFlags: Type.Optional(Type.Array(Type.String())) }),
  }),
  latestTurn: Nullable(Type.Object({ id: Type.String(), status: Type.String() })),
  latestAssistantMessage: Nullable(
    Type.Object({
      id: Type.String(),
      turnId: Type.String(),
      phase: Nullable(Type.String()),
      ...CutText.properties,
    }),
  ),
  latestToolMarker: Nullable(
    Type.Object({
      id: Type.String(),
      turnId: Type.String(),
      type: Type.String(),
      name: OptionalText,
      status: OptionalText,
    }),
  ),
  creation: Type.Optional(Creation),
})
export type Poll = Type.Static<typeof Poll>

/** The types of items that are the use of a tool, and the member that names it. */
const toolNames: Readonly<Record<string, string>> = {
  commandExecution: 'command',
  fileChange: '',
  mcpToolCall: 'tool',
  dynamicToolCall: 'tool',
  collabAgentToolCall: 'tool',
  webSearch: 'query',
  imageGeneration: '',
  imageView: '',
}
const NAME_CHARS = 100

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const markerOf = (item: Item, turnId: string) => {
  const fields = fieldsOf(item)
  const name = text(fields[toolNames[item.type] ?? ''])
  return {
    id: item.id,
    turnId,
    type: item.type,
    ...given({ name: name && cutText(name, NAME_CHARS).text, status: text(fields.status) }),
  }
}

const messageOf = (item: Item, turnId: string) => ({
  id: item.id,
  turnId,
  phase: text(fieldsOf(item).phase) ?? null,
  ...cutText(text(fieldsOf(item).text) ?? '', MESSAGE_CHARS),
})

/** The newest agent message and the newest use of a tool in a turn; what cannot be read now is left out. */
const newest = async (ctx: WaitContext, threadId: string, turn: Turn) => {
  const orNothing = (error: unknown): undefined => {
    if (TransportError.is(error)) ctx.log('debug', 'poll_incomplete', { code: error.code })
    return undefined
  }
  const [withMessage, items] = await Promise.all([
    withLastMessage(ctx, threadId, turn, 0).catch(orNothing),
    ctx
      .call('thread/items/list', { threadId, turnId: turn.id, limit: ITEMS, sortDirection: 'desc' })
      .catch(orNothing),
  ])
  const message = withMessage?.items.findLast(({ type }) => type === 'agentMessage')
  const marker = items?.data.find(({ item }) => item.type in toolNames)
  return {
    latestAssistantMessage: message === undefined ? null : messageOf(message, turn.id),
    latestToolMarker: marker === undefined ? null : markerOf(marker.item, turn.id),
  }
}

/** A turn that only looks interrupted still runs. */
const shownTurn = (turn: Turn, ended: boolean) => ({
  id: turn.id,
  status: ended ? turn.status : 'inProgress',
  error: turn.error == null ? null : { message: cutText(turn.error.message, MESSAGE_CHARS).text },
  startedAt: turn.startedAt ?? null,
  completedAt: turn.completedAt ?? null,
  durationMs: fieldsOf(turn).durationMs ?? null,
})

const nothing = { latestAssistantMessage: null, latestToolMarker: null }

/** What a wait tells of one target; nothing when it could not be looked at. */
export const pollOf = async (ctx: WaitContext, watch: TargetWatch): Promise<Poll | undefined> => {
  const { state, creation, realThreadId, cursorReset } = watch
  const marks = { ...(cursorReset ? { cursorReset: true } : {}), ...given({ creation }) }
  if (state !== undefined && realThreadId !== undefined)
    return { ...(await pollOfThread(ctx, watch, realThreadId, state)), ...marks }
  if (creation === undefined) return undefined
  const { view, changed } = seenPending(creation, watch.before)
  return {
    cursor: cursorOf(view),
    revision: view.revision,
    changed,
    thread: { id: creation.clientThreadId, hostId: HOST, status: { type: creation.phase } },
    latestTurn: null,
    ...nothing,
    ...marks,
  }
}

const pollOfThread = async (
  ctx: WaitContext,
  { threadId, before }: TargetWatch,
  realThreadId: string,
  state: ThreadState,
) => {
  const { view, changed } = seen(threadId, state, before)
  const { turn } = state
  return {
    cursor: cursorOf(view),
    revision: view.revision,
    changed,
    thread: { id: realThreadId, hostId: HOST, status: state.status },
    latestTurn: turn === undefined ? null : shownTurn(turn, state.ended),
    ...(turn === undefined || !changed ? nothing : await newest(ctx, realThreadId, turn)),
  }
}
