import { BridgeError } from '../contract/errors.ts'
import { clipTexts, SHORTEST_CLIP, type Clipped } from './clip.ts'

/** Kept free for the members that tell what an answer lacks. */
const MARKS_BYTES = 600

/** The size of a value's JSON; what the result budget counts. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** What of a result budget the contents may use. */
export const contentBytes = (resultBytes: number): number => resultBytes - MARKS_BYTES

/** Tries with texts of `maxChars`, then of half as many again and again. Undefined when nothing fits. */
export const halveTexts = <R>(
  maxChars: number,
  attempt: (maxChars: number) => R | undefined,
): R | undefined => {
  for (let chars = maxChars; ; chars = Math.max(SHORTEST_CLIP, Math.floor(chars / 2))) {
    const fitted = attempt(chars)
    if (fitted !== undefined || chars <= SHORTEST_CLIP) return fitted
  }
}

export interface Fitted<T> extends Clipped<T> {
  /** The clip that was needed. */
  readonly maxChars: number
}

/** A whole answer within the budget, by shorter texts alone. */
export const fitTexts = <T>(value: T, longest: number, resultBytes: number): Fitted<T> | undefined =>
  halveTexts(longest, (maxChars) => {
    const clipped = clipTexts(value, maxChars)
    return jsonBytes(clipped.value) <= contentBytes(resultBytes) ? { ...clipped, maxChars } : undefined
  })

/**
 * A page whose answer fits: what `fit` refuses is asked for again with half the rows, so that its cursor stays true.
 * @throws BridgeError result_too_large when one row alone does not fit
 */
export const pageThatFits = async <P, R>(
  limit: number,
  ask: (limit: number) => Promise<P>,
  fit: (page: P, limit: number) => R | undefined,
): Promise<R> => {
  for (let rows = limit; ; rows = Math.floor(rows / 2)) {
    const fitted = fit(await ask(rows), rows)
    if (fitted !== undefined) return fitted
    if (rows <= 1) throw oneRowTooLarge()
  }
}

const oneRowTooLarge = (): BridgeError =>
  new BridgeError('result_too_large', 'One row alone is larger than an answer of the bridge may be.', {
    hint: 'Raise --max-result-bytes, or read the thread in Codex.',
  })

/** What a page says when it has fewer rows than were asked for. */
export const fewerRows = (rows: number, asked: number): string | undefined =>
  rows === asked
    ? undefined
    : `At most ${rows} rows instead of ${asked}, so that they fit: go on with nextCursor.`
