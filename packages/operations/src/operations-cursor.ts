import { BridgeError } from '@codex-thread-bridge/core/contract'
import { opaqueCursor } from '@codex-thread-bridge/core/threads'
import { Type, type Static } from 'typebox'

const Place = Type.Object({ startedAt: Type.Number(), requestId: Type.String() })
type Place = Static<typeof Place>

const cursors = opaqueCursor('o', Place)

/** Where a page of operations goes on: behind this receipt. */
export const cursorAfter = ({ startedAt, requestId }: Place): string => cursors.of({ startedAt, requestId })

/** @throws BridgeError invalid_cursor for anything that cursorAfter did not make */
export const placeOf = (cursor: string): Place => {
  const place = cursors.placeOf(cursor)
  if (place !== undefined) return place
  throw new BridgeError('invalid_cursor', 'The cursor is not one that list_operations handed out.', {
    field: 'cursor',
  })
}
