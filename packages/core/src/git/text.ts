import { BridgeError } from '../contract/errors.ts'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * A path that Git printed.
 * @throws BridgeError unsupported_path when its bytes are no text
 */
export const pathOf = (bytes: Buffer): string => {
  const path = textOf(bytes)
  if (path !== undefined) return path
  throw new BridgeError('unsupported_path', `Git names a path that is not UTF-8: ${bytes.toString('utf8')}`)
}

/** An answer of one line, without its end; a path may end in a newline of its own. */
export const lineIn = (answer: Buffer): Buffer => (answer.at(-1) === 0x0a ? answer.subarray(0, -1) : answer)

/** The lines of an answer whose last line's end was taken away. */
export const linesIn = (answer: Buffer): readonly Buffer[] => {
  const end = answer.indexOf(0x0a)
  return end === -1 ? [answer] : [answer.subarray(0, end), ...linesIn(answer.subarray(end + 1))]
}

/** The NUL-terminated fields of an answer. */
export function* fields(answer: Buffer): Generator<Buffer> {
  for (let start = 0; start < answer.length;) {
    const end = answer.indexOf(0, start)
    yield answer.subarray(start, end === -1 ? undefined : end)
    if (end === -1) return
    start = end + 1
  }
}

/** Bytes as text; undefined when they are no UTF-8. */
export const textOf = (bytes: Buffer): string | undefined => {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}
