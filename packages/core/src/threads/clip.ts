import { Type, type Static } from 'typebox'

/** No text is shortened below this. */
export const SHORTEST_CLIP = 100

/** What agents act on is never shortened: ids, cursors, paths, status. */
const KEPT =
  /^(id|ids|cursor|cwd|path|paths|root|roots|status|type)$|(Id|Ids|Cursor|Path|Paths|Root|Roots|Status|Type)$/

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff
const SURROGATE = /[\ud800-\udfff]/

/** How many code points a text has, and the index where the one after `max` begins. */
const measure = (text: string, max: number): { readonly codePoints: number; readonly end: number } => {
  // The search is native: most texts, of up to megabytes, need not be counted.
  if (!SURROGATE.test(text)) return { codePoints: text.length, end: max }
  let codePoints = 0
  let end = text.length
  for (let index = 0; index < text.length; index += 1) {
    if (codePoints === max) end = Math.min(end, index)
    if (isHigh(text.charCodeAt(index)) && isLow(text.charCodeAt(index + 1))) index += 1
    codePoints += 1
  }
  return { codePoints, end }
}

/** The text, or its first `maxChars` code points and a line that tells the original length. */
export const clipText = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text
  const { codePoints, end } = measure(text, maxChars)
  if (codePoints <= maxChars) return text
  return `${text.slice(0, end)}\n[shortened: the original has ${codePoints.toLocaleString('en-US')} characters]`
}

/** A text cut to so many code points, without a line in its place: what was there is told beside it. */
export const CutText = Type.Object({
  text: Type.String(),
  truncated: Type.Boolean(),
  originalChars: Type.Integer(),
})
export type CutText = Static<typeof CutText>

/** The first `maxChars` code points of a text, and how many it has. */
export const cutText = (text: string, maxChars: number): CutText => {
  const { codePoints, end } = measure(text, maxChars)
  const truncated = codePoints > maxChars
  return { text: truncated ? text.slice(0, end) : text, truncated, originalChars: codePoints }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A copy of JSON data in which only texts that are shortened are new; `key` is the name that led to it. */
const shortened = (value: unknown, key: string, maxChars: number, onShortened: () => void): unknown => {
  if (typeof value === 'string') {
    const text = KEPT.test(key) ? value : clipText(value, maxChars)
    if (text !== value) onShortened()
    return text
  }
  if (Array.isArray(value)) return value.map((member) => shortened(member, key, maxChars, onShortened))
  if (!isRecord(value)) return value
  const members = Object.entries(value)
  return Object.fromEntries(
    members.map(([name, member]) => [name, shortened(member, name, maxChars, onShortened)]),
  )
}

export interface Clipped<T> {
  readonly value: T
  /** How many texts were shortened. */
  readonly count: number
}

/** A copy of JSON data with every display text of more than `maxChars` code points shortened. Linear in its size. */
export const clipTexts = <T>(value: T, maxChars: number): Clipped<T> => {
  let count = 0
  const copy = shortened(value, '', maxChars, () => (count += 1))
  // Strings stay strings, and everything else its shape.
  return { value: copy as T, count }
}

/** Output members that tell what an answer lacks; absent when it lacks nothing. */
export const truncation = {
  truncated: Type.Optional(Type.Boolean({ description: 'true: something was shortened or left out.' })),
  truncatedCount: Type.Optional(Type.Integer({ description: 'How many texts were shortened.' })),
  note: Type.Optional(Type.String({ description: 'What was shortened or left out, and how to get it.' })),
} as const

export interface Truncation {
  readonly truncated: true
  readonly truncatedCount: number
  readonly note: string
}

const number = (value: number): string => value.toLocaleString('en-US')

/** What the marks of an answer say; nothing when nothing is missing. */
export const truncationOf = (
  shortened: { readonly count: number; readonly maxChars: number },
  ...more: readonly (string | undefined)[]
): Partial<Truncation> => {
  const notes = [
    ...(shortened.count > 0
      ? [`${number(shortened.count)} text(s) are shortened to ${number(shortened.maxChars)} characters.`]
      : []),
    ...more.filter((note) => note !== undefined),
  ]
  return notes.length === 0 ? {} : { truncated: true, truncatedCount: shortened.count, note: notes.join(' ') }
}
