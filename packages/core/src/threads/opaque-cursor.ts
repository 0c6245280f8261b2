import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

/** Cursors of one kind: texts that only the bridge reads. */
export interface OpaqueCursor<T> {
  of(place: T): string
  /** The place that a cursor stands for; undefined for anything that `of` did not make. */
  placeOf(cursor: string): T | undefined
}

/** Cursors that begin with a letter: no client takes one for a number or for JSON. They hold the place itself, so they outlive us. */
export const opaqueCursor = <const S extends TSchema>(letter: string, schema: S): OpaqueCursor<Static<S>> => {
  const place = Compile(schema)
  const of = (value: Static<S>): string => letter + Buffer.from(JSON.stringify(value)).toString('base64url')
  return {
    of,
    placeOf(cursor) {
      const found = parsed(Buffer.from(cursor.slice(letter.length), 'base64url').toString())
      return place.Check(found) && of(found) === cursor ? found : undefined
    },
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
