const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80

/** Strings of a long line keep so many bytes. */
const STRING_MAX = 1_048_576
/** What is left of a line may be so long; the rest of it is dropped. */
const LINE_MAX = 8 * 1_048_576
const FIRST_SIZE = 65_536

/**
 * Takes one line of JSON in pieces and shortens its strings on the way, so that a line of any length is read in little
 * memory and stays JSON. What is no JSON comes out as it is, cut at 8 MiB.
 */
export class StringShortener {
  #out = Buffer.alloc(FIRST_SIZE)
  #size = 0
  #inString = false
  #kept = 0
  #dropping = false
  #escaped = false
  #hexLeft = 0

  push(bytes: Buffer): void {
    // By index: an iterator costs as much as the work itself.
    for (let at = 0; at < bytes.length; at += 1) this.#take(bytes[at] ?? 0)
  }

  /** What was kept. */
  line(): Buffer {
    return this.#out.subarray(0, this.#size)
  }

  #take(byte: number): void {
    if (!this.#inString) {
      this.#keep(byte)
      if (byte !== QUOTE) return
      this.#inString = true
      this.#dropping = false
      this.#kept = 0
      return
    }
    const inside = this.#escaped || this.#hexLeft > 0
    if (!inside && byte === QUOTE) {
      this.#inString = false
      this.#keep(byte)
      return
    }
    // Never within a character or an escape.
    if (!inside && this.#kept >= STRING_MAX && !isContinuation(byte)) this.#dropping = true
    this.#follow(byte)
    if (this.#dropping) return
    this.#kept += 1
    this.#keep(byte)
  }

  #follow(byte: number): void {
    if (this.#hexLeft > 0) this.#hexLeft -= 1
    else if (this.#escaped) {
      this.#escaped = false
      if (byte === LETTER_U) this.#hexLeft = 4
    } else if (byte === BACKSLASH) this.#escaped = true
  }

  #keep(byte: number): void {
    if (this.#size >= LINE_MAX) return
    if (this.#size === this.#out.length) {
      const larger = Buffer.alloc(this.#out.length * 2)
      this.#out.copy(larger)
      this.#out = larger
    }
    this.#out[this.#size] = byte
    this.#size += 1
  }
}
