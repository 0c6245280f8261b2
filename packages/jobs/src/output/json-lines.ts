import { stripVTControlCharacters } from 'node:util'
import type { JobEvent } from './events.ts'
import { isRecord, type JsonEvent } from './json-event.ts'
import { firstCharacters, type Reading } from './reading.ts'

const STRANGE_MAX = 2_000

/** A line of text without colours, NUL bytes and the carriage return of CRLF. */
export const plainLine = (line: string): string =>
  stripVTControlCharacters(line.replaceAll('\0', '')).replace(/\r$/, '')

const parsed = (line: string): JsonEvent | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Reads lines that are one JSON object each; others are counted and the last of them is remembered. */
export const jsonLineReader =
  (take: (reading: Reading, event: JsonEvent, now: string) => readonly JobEvent[]) =>
  (reading: Reading, line: string, now: string): readonly JobEvent[] => {
    const event = line.startsWith('{') ? (parsed(line) ?? parsed(plainLine(line))) : parsed(plainLine(line))
    if (event !== undefined) return take(reading, event, now)
    const text = plainLine(line).trim()
    if (text !== '') {
      reading.strangeLines += 1
      reading.strangeText = firstCharacters(text, STRANGE_MAX)
    }
    return []
  }
