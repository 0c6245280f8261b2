import { threadKey } from '@codex-thread-bridge/core/protocol'
import { opaqueCursor, type ThreadState } from '@codex-thread-bridge/core/threads'
import { Type, type Static } from 'typebox'
import { phases, type Creation } from './client-thread.ts'

/** What a client has seen of a thread; its cursor holds all of it, so that it outlives the bridge. */
const View = Type.Object({
  /** The thread, by the spelling of its id that does not matter. */
  key: Type.String(),
  revision: Type.Integer(),
  status: Type.String(),
  flags: Type.Array(Type.String()),
  turnId: Type.Union([Type.String(), Type.Null()]),
  ended: Type.Boolean(),
  phase: Type.Optional(Type.Enum([...phases], { type: 'string' })),
})
export type View = Static<typeof View>

const cursors = opaqueCursor('w', View)

export const cursorOf = (view: View): string => cursors.of(view)

/** What a cursor tells of this thread; undefined when it is foreign or belongs to another thread. */
export const viewOf = (cursor: string, threadId: string): View | undefined => {
  const view = cursors.placeOf(cursor)
  return view?.key === threadKey(threadId) ? view : undefined
}

const FIRST = 1

const next = (view: Omit<View, 'revision'>, before: View | undefined): { view: View; changed: boolean } => {
  if (before === undefined) return { view: { ...view, revision: FIRST }, changed: true }
  const same: View = { ...view, revision: before.revision }
  return cursorOf(same) === cursorOf({ ...before, key: view.key })
    ? { view: same, changed: false }
    : { view: { ...view, revision: before.revision + 1 }, changed: true }
}

/** A thread as it is now, and whether that is news. `threadId` is the id that the client used. */
export const seen = (threadId: string, { status, turn, ended }: ThreadState, before: View | undefined) =>
  next(
    {
      key: threadKey(threadId),
      status: status.type,
      flags: [...(status.activeFlags ?? [])],
      turnId: turn?.id ?? null,
      ended,
    },
    before,
  )

/** A thread that is only being made. */
export const seenPending = (
  { clientThreadId, phase, outcomeUnknown = false }: Creation,
  before: View | undefined,
) =>
  next(
    {
      key: threadKey(clientThreadId),
      status: outcomeUnknown ? 'unknown' : 'pending',
      flags: [],
      turnId: null,
      ended: false,
      phase,
    },
    before,
  )

export type WakeReason = 'turnCompleted' | 'inactiveStatus' | 'actionableStatus'
export interface Wake {
  readonly reason: WakeReason
  readonly turnId?: string
}

const sameFlags = (one: readonly string[], other: readonly string[]): boolean =>
  [...one].sort().join() === [...other].sort().join()

/**
 * Why a thread is worth an answer: its turn is over, it needs a person, or it does nothing, and the client does not know
 * yet. `settled` is whether it has been seen doing nothing for long enough: a turn that begins shows late.
 */
export const wakeOf = (
  { status, turn, ended }: ThreadState,
  before: View | undefined,
  settled: boolean,
): Wake | undefined => {
  const flags = status.activeFlags ?? []
  const turnIs = turn === undefined ? {} : { turnId: turn.id }
  if (status.type === 'active') {
    const known = before?.turnId === (turn?.id ?? null) && sameFlags(before.flags, flags)
    return flags.length === 0 || known ? undefined : { reason: 'actionableStatus', ...turnIs }
  }
  if (turn !== undefined)
    return !ended || (before?.ended === true && before.turnId === turn.id)
      ? undefined
      : { reason: 'turnCompleted', ...turnIs }
  const known = before?.status === status.type && before.turnId === null
  return !settled || known ? undefined : { reason: 'inactiveStatus' }
}
