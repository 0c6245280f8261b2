import { stripVTControlCharacters } from 'node:util'
import type { JobEvent } from './events.ts'
import { isRecord, type JsonEvent } from './json-event.ts'
import type { Passed } from './passed-lines.ts'
import { firstCharacters, type Reading } from './reading.ts'

const STRANGE_MAX = 2_000

/** What begins a control sequence, and NUL. */
const NOISE = /[\0\u001b\u009b]/

/** A line of text without colours, NUL bytes and the carriage return of CRLF. */
export const plainLine = (line: string): string => {
  const text = NOISE.test(line) ? stripVTControlCharacters(line.replaceAll('\0', '')) : line
  return text.endsWith('\r') ? text.slice(0, -1) : text
}

/** An object begins so. JSON.parse says so too, but a failure of it costs as much as reading a hundred lines. */
const OBJECT = /^[ \t\r]*\{[ \t\r]*["}]/

const parsed = (line: string): JsonEvent | undefined => {
  if (!OBJECT.test(line) || !line.trimEnd().endsWith('}')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

const eventOf = (line: string): JsonEvent | undefined => {
  const event = parsed(line)
  if (event !== undefined) return event
  const plain = plainLine(line)
  return plain === line ? undefined : parsed(plain)
}

const keepStrange = (reading: Reading, line: string, lines = 1): void => {
  const text = plainLine(line).trim()
  if (text === '') return
  reading.strangeLines += lines
  reading.strangeText = firstCharacters(text, STRANGE_MAX)
}

/** Lines that were passed over, since they are no JSON objects. */
export const readPassed = (reading: Reading, { notBlank, last }: Passed): void => {
  if (last !== undefined) keepStrange(reading, last.toString('utf8'), notBlank)
}

/** Reads lines that are one JSON object each; others are counted and the last of them is remembered. */
export const jsonLineReader =
  (take: (reading: Reading, event: JsonEvent, now: string) => readonly JobEvent[]) =>
  (reading: Reading, line: string, now: string): readonly JobEvent[] => {
    const event = eventOf(line)
    if (event !== undefined) return take(reading, event, now)
    keepStrange(reading, line)
    return []
  }
