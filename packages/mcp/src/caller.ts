import type { Caller } from '@codex-thread-bridge/core/contract'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

/** Where Codex puts what it tells of the calling turn: an object, or its JSON. */
const TURN_METADATA = 'x-codex-turn-metadata'
const UNREADABLE = 'unreadable'

const fields = Compile(Type.Record(Type.String(), Type.Unknown()))
const name = Compile(Type.String({ minLength: 1, maxLength: 256 }))

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (fields.Check(value) ? value : {})

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The first of these values that is a usable name. */
const firstName = (...values: readonly unknown[]): string | undefined =>
  values.find((value): value is string => name.Check(value))

/** A mode, or metadata, in a shape that we do not know is told as such, not left out: it is a limit all the same. */
const sandboxOf = (told: unknown): string | undefined =>
  told === undefined || told === null ? undefined : (firstName(told) ?? UNREADABLE)

/**
 * Who calls, from the `_meta` of a request (Codex: threadId, callId, itemId and the turn's metadata). What is missing
 * or misshapen is left out, but for the sandbox mode. A call id means something within its thread only, so without one there is no identity.
 */
export const callerOf = (meta: unknown): Caller => {
  const own = fieldsOf(meta)
  const told = own[TURN_METADATA]
  const metadata = typeof told === 'string' ? parsed(told) : told
  const turn = fieldsOf(metadata)
  const threadId = firstName(own.threadId, turn.thread_id)
  const turnId = firstName(turn.turn_id)
  const readable = told === undefined || told === null || fields.Check(metadata)
  const sandbox = readable ? sandboxOf(turn.sandbox_mode) : UNREADABLE
  const callId = firstName(own.callId, own.itemId)
  return {
    ...(threadId === undefined ? {} : { threadId }),
    ...(turnId === undefined ? {} : { turnId }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(threadId === undefined || callId === undefined
      ? {}
      : { callIdentity: JSON.stringify([threadId, turnId ?? null, callId]) }),
  }
}
