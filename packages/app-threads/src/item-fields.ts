import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

const members = Compile(Type.Record(Type.String(), Type.Unknown()))
const list = Compile(Type.Array(Type.Unknown()))

/** A JSON object whose members may be anything. */
export type Fields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): Fields => (members.Check(value) ? value : {})

export const listOf = (value: unknown): readonly unknown[] => (list.Check(value) ? value : [])

export const textsOf = (value: unknown): readonly string[] =>
  listOf(value).filter((entry) => typeof entry === 'string')

/** The named members that are there, as they are: ids, states, numbers. */
export const pick = (fields: Fields, ...names: readonly string[]): Fields =>
  Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]] as const])),
  )

/** A value as text: JSON unless it is text already. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
