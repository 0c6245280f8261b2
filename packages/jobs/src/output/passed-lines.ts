const NEWLINE = 0x0a
const BRACE = 0x7b
const CLOSING_BRACE = 0x7d
const QUOTE = 0x22
const ESCAPE = 0x1b
const BRACKET = 0x5b
const LETTER_M = 0x6d
/** The first byte of U+009B, which begins a control sequence as ESC [ does. */
const C1 = 0xc2
/** So much is kept of the beginning of a line that is passed over. */
const BEGINNING_MAX = 8_192

/** What may stand before an event: the blanks of JSON, and NUL. */
const behindBlanks = (chunk: Buffer, from: number): number => {
  const { length } = chunk
  let at = from
  for (; at < length; at += 1) {
    const byte = chunk[at]
    if (byte !== 0x20 && byte !== 0 && byte !== 0x09 && byte !== 0x0d) break
  }
  return at
}

const isColourCode = (byte: number | undefined): boolean =>
  byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || byte === 0x3b)

/** Behind a colour that is whole, ESC [ 3 2 m; else where it began. */
const behindColour = (chunk: Buffer, from: number): number => {
  if (chunk[from] !== ESCAPE || chunk[from + 1] !== BRACKET) return from
  let at = from + 2
  while (isColourCode(chunk[at])) at += 1
  return chunk[at] === LETTER_M ? at + 1 : from
}

/** Where the text of a line begins. */
const behindColoursAndBlanks = (chunk: Buffer, from: number): number => {
  for (let at = behindBlanks(chunk, from); ;) {
    const next = behindColour(chunk, at)
    if (next === at) return at
    at = behindBlanks(chunk, next)
  }
}

const lineEnd = (chunk: Buffer, from: number): number => {
  const { length } = chunk
  let at = from
  while (at < length && chunk[at] !== NEWLINE) at += 1
  return at
}

/** Where a control sequence stands only the whole line tells. */
const mayBeControl = (byte: number | undefined): boolean => byte === ESCAPE || byte === C1

/** Whether an object may begin here, as far as the chunk tells. */
const mayBeginEvent = (chunk: Buffer, at: number): boolean => {
  if (chunk[at] !== BRACE) return mayBeControl(chunk[at])
  const next = behindBlanks(chunk, at + 1)
  const byte = chunk[next]
  return next === chunk.length || byte === QUOTE || byte === CLOSING_BRACE || mayBeControl(byte)
}

/** Lines that were passed over. */
export interface Passed {
  readonly lines: number
  /** Those that hold more than blanks. */
  readonly notBlank: number
  /** In the input, the ends of the lines included. */
  readonly bytes: number
  /** The beginning of the last that is not blank. */
  readonly last: Buffer | undefined
}

/**
 * Passes over lines that cannot be a JSON object, which their first bytes that are not blank tell: nothing is decoded, so
 * what floods an output is read as fast as its bytes can be looked at.
 */
export class PassedLines {
  /** Bytes of the line that is not over yet. */
  #open = 0
  /** The beginning of its text, when it has any: then it is passed over to its end. */
  #text: Buffer | undefined
  #lines = 0
  #notBlank = 0
  #bytes = 0
  #last: Buffer | undefined

  /** Where in the chunk a line goes on that may be an event, or the chunk's end. The chunk may be used again afterwards. */
  pass(chunk: Buffer, from: number): number {
    const { length } = chunk
    let at = from
    let lineBegin = from - this.#open
    let last: readonly [number, number] = [0, 0]
    while (at < length) {
      if (this.#text === undefined) {
        at = behindColoursAndBlanks(chunk, at)
        if (at === length || mayBeginEvent(chunk, at)) break
      }
      const text = at
      at = lineEnd(chunk, at)
      if (at === length || this.#text !== undefined) this.#hold(chunk.subarray(text, at))
      if (at === length) break
      if (this.#text !== undefined) this.#endText()
      else if (at > text) {
        last = [text, at]
        this.#notBlank += 1
      }
      at += 1
      this.#lines += 1
      this.#bytes += at - lineBegin
      lineBegin = at
    }
    const [begin, end] = last
    if (end > 0) this.#last = Buffer.from(chunk.subarray(begin, Math.min(end, begin + BEGINNING_MAX)))
    this.#open = at - lineBegin
    return at
  }

  /** Hands over the bytes of the line that is not over: it is another's now. */
  giveOpen(): number {
    const open = this.#open
    this.#open = 0
    return open
  }

  /** The line that nothing ended is over. */
  end(): void {
    if (this.#open === 0) return
    if (this.#text !== undefined) this.#endText()
    this.#lines += 1
    this.#bytes += this.#open
    this.#open = 0
  }

  /** What was passed over since it was asked the last time; undefined when nothing was. */
  take(): Passed | undefined {
    if (this.#lines === 0) return undefined
    const passed = { lines: this.#lines, notBlank: this.#notBlank, bytes: this.#bytes, last: this.#last }
    this.#lines = 0
    this.#notBlank = 0
    this.#bytes = 0
    this.#last = undefined
    return passed
  }

  #hold(piece: Buffer): void {
    const held = this.#text ?? Buffer.alloc(0)
    this.#text = held.length >= BEGINNING_MAX ? held : Buffer.concat([held, piece.subarray(0, BEGINNING_MAX)])
  }

  #endText(): void {
    this.#last = this.#text
    this.#text = undefined
    this.#notBlank += 1
  }
}
