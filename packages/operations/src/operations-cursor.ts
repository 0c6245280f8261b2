import { BridgeError } from '@codex-thread-bridge/core/contract'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

/** A letter in front: no client takes the cursor for a number or for JSON. */
const MARK = 'o'

const Place = Type.Object({ startedAt: Type.Number(), requestId: Type.String() })
type Place = Static<typeof Place>
const place = Compile(Place)

/** Where a page of operations goes on: behind this receipt. */
export const cursorAfter = ({ startedAt, requestId }: Place): string =>
  MARK + Buffer.from(JSON.stringify({ startedAt, requestId })).toString('base64url')

/** @throws BridgeError invalid_cursor for anything that cursorAfter did not make */
export const placeOf = (cursor: string): Place => {
  const found = parsed(Buffer.from(cursor.slice(MARK.length), 'base64url').toString())
  if (place.Check(found) && cursorAfter(found) === cursor) return found
  throw new BridgeError('invalid_cursor', 'The cursor is not one that list_operations handed out.', {
    field: 'cursor',
  })
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
