import { PassedLines, type Passed } from './passed-lines.ts'
import { StringShortener } from './shorten-strings.ts'

const NEWLINE = 0x0a
/** Longer lines are shortened while they are read. */
const PLAIN_MAX = 1_048_576
/** Whether it is enough is asked once in so many lines. */
const ASK_EVERY = 16

/**
 * Bytes in, lines out: text is decoded by the line, so no character is split between two chunks; what is no UTF-8
 * becomes U+FFFD. Holds at most one line, shortened when it is long. With `onPassed`, lines that cannot be a JSON object
 * are passed over.
 */
export class LineSplitter {
  #pieces: Buffer[] = []
  #held = 0
  #long: StringShortener | undefined
  /** Bytes of the line that is not over yet. */
  #open = 0
  readonly #passed = new PassedLines()
  readonly #onLine: (line: string, bytes: number) => void
  readonly #onPassed: ((passed: Passed) => void) | undefined

  /** `bytes` is how many the line took in the input, its end included. */
  constructor(onLine: (line: string, bytes: number) => void, onPassed?: (passed: Passed) => void) {
    this.#onLine = onLine
    this.#onPassed = onPassed
  }

  /** Takes a chunk from a place on; the caller may use it again. Where it stopped: at its end, or when `isEnough`. */
  push(chunk: Buffer, from = 0, isEnough: () => boolean = () => false): number {
    let at = from
    for (let lines = 1; at < chunk.length; lines += 1) {
      at = this.#pass(chunk, at)
      if (at < chunk.length) at = this.#keep(chunk, at)
      if (lines % ASK_EVERY === 0 && isEnough()) break
    }
    return at
  }

  /** The last line, when nothing ended it. */
  end(): void {
    if (this.#open > 0) this.#flush()
    this.#passed.end()
    this.#tellPassed()
  }

  #pass(chunk: Buffer, from: number): number {
    if (this.#onPassed === undefined || this.#open > 0) return from
    const at = this.#passed.pass(chunk, from)
    this.#tellPassed()
    if (at < chunk.length) this.#open = this.#passed.giveOpen()
    return at
  }

  #tellPassed(): void {
    const passed = this.#passed.take()
    if (passed !== undefined) this.#onPassed?.(passed)
  }

  #keep(chunk: Buffer, from: number): number {
    const end = chunk.indexOf(NEWLINE, from)
    if (end < 0) {
      this.#hold(Buffer.from(chunk.subarray(from)))
      return chunk.length
    }
    this.#hold(chunk.subarray(from, end))
    this.#open += 1
    this.#flush()
    return end + 1
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
