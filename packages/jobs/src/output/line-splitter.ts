import { StringShortener } from './shorten-strings.ts'

const NEWLINE = 0x0a
/** Longer lines are shortened while they are read. */
const PLAIN_MAX = 1_048_576

/**
 * Bytes in, lines out: text is decoded by the line, so no character is split between two chunks; what is no UTF-8
 * becomes U+FFFD. Holds at most one line, shortened when it is long.
 */
export class LineSplitter {
  #pieces: Buffer[] = []
  #held = 0
  #long: StringShortener | undefined
  /** Bytes of the line that is not over yet. */
  #open = 0
  readonly #onLine: (line: string, bytes: number) => void

  /** `bytes` is how many the line took in the input, its end included. */
  constructor(onLine: (line: string, bytes: number) => void) {
    this.#onLine = onLine
  }

  /** The chunk may be used again by the caller. */
  push(chunk: Buffer): void {
    let from = 0
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from)
      if (end < 0) break
      this.#hold(chunk.subarray(from, end))
      this.#open += 1
      this.#flush()
      from = end + 1
    }
    if (from < chunk.length) this.#hold(Buffer.from(chunk.subarray(from)))
  }

  /** The last line, when nothing ended it. */
  end(): void {
    if (this.#open > 0) this.#flush()
  }

  #hold(piece: Buffer): void {
    this.#open += piece.length
    if (this.#long !== undefined) {
      this.#long.push(piece)
      return
    }
    this.#pieces.push(piece)
    this.#held += piece.length
    if (this.#held <= PLAIN_MAX) return
    this.#long = new StringShortener()
    for (const held of this.#pieces) this.#long.push(held)
    this.#pieces = []
    this.#held = 0
  }

  #flush(): void {
    const [only] = this.#pieces
    const bytes =
      this.#long?.line() ??
      (this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces))
    const length = this.#open
    const line = bytes.toString('utf8')
    this.#pieces = []
    this.#held = 0
    this.#long = undefined
    this.#open = 0
    this.#onLine(line, length)
  }
}
