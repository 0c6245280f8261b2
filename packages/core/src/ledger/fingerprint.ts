import { createHash } from 'node:crypto'
import { compareCodePoints } from './code-points.ts'

/** The version that `fingerprint` makes and receipts carry. */
export const FINGERPRINT_VERSION = 3

/** Whether null members of objects are part of the text: version 2 (the Python bridge) keeps them. */
export interface CanonicalOptions {
  readonly nulls?: 'omit' | 'keep'
}

/**
 * JSON with one spelling per value: keys by code point, no spaces, ASCII only (\uXXXX, surrogate pairs above U+FFFF).
 * Members that are undefined are left out, those that are null too unless `nulls` is 'keep'.
 * @throws TypeError for what JSON cannot hold (functions, symbols, bigints)
 */
export const canonicalJson = (value: unknown, options: CanonicalOptions = {}): string => {
  const keepNulls = options.nulls === 'keep'
  const write = (part: unknown): string => {
    if (part === undefined || part === null) return 'null'
    if (typeof part === 'string') return writeString(part)
    if (typeof part === 'number') return writeNumber(part)
    if (typeof part === 'boolean') return String(part)
    if (Array.isArray(part)) return `[${part.map(write).join(',')}]`
    if (typeof part !== 'object') throw new TypeError(`A ${typeof part} has no place in a fingerprint.`)
    const members = Object.entries(part)
      .filter(([, member]) => member !== undefined && (keepNulls || member !== null))
      .sort(([a], [b]) => compareCodePoints(a, b))
      .map(([key, member]) => `${writeString(key)}:${write(member)}`)
    return `{${members.join(',')}}`
  }
  return write(value)
}

const writeString = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** As Python prints it: integers with all their digits, floats under 0.0001 with a two-digit exponent. */
const writeNumber = (value: number): string => {
  if (!Number.isFinite(value)) return 'null'
  if (Number.isInteger(value)) return BigInt(value).toString()
  if (Math.abs(value) >= 1e-4) return String(value)
  return value.toExponential().replace(/e-(\d)$/, 'e-0$1')
}

/** SHA-256 of a text's UTF-8, in hex. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** SHA-256 (hex) of what a mutation was asked to do: family, operation and arguments without `request_id`. */
export const fingerprint = (
  family: string,
  operation: string,
  args: Readonly<Record<string, unknown>>,
): string => sha256(canonicalJson([family, operation, { ...args, request_id: undefined }]))

/** What a message or thread of this request carries in the App Server's history: `ctb1:` and 24 hex digits. */
export const deliveryMarker = (endpoint: string, requestId: string): string =>
  `ctb1:${sha256(`${endpoint}\0${requestId}`).slice(0, 24)}`
