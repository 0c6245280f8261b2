import { open } from 'node:fs/promises'
import type { Cli } from '../clis/cli.ts'
import type { JobEvent } from './events.ts'
import { LineSplitter } from './line-splitter.ts'
import type { Reading } from './reading.ts'

const CHUNK = 262_144

/** Called for each line that was read; false stops the reading behind that line. */
export type OnLine = (events: readonly JobEvent[], offset: number) => boolean

/**
 * Reads a job's stdout as it grows, once, from where the reading stands. Memory does not depend on the size of the
 * output: chunks are read one after another, and a line is let go of when it has been taken in.
 */
export class Follower {
  readonly reading: Reading
  readonly #path: string
  readonly #cli: Cli
  readonly #now: () => number
  readonly #onLine: OnLine
  readonly #lines: LineSplitter
  #position: number
  #stopped = false
  #running: Promise<void> = Promise.resolve()

  constructor(path: string, cli: Cli, reading: Reading, now: () => number, onLine: OnLine = () => true) {
    this.reading = reading
    this.#path = path
    this.#cli = cli
    this.#now = now
    this.#onLine = onLine
    this.#position = reading.offset
    this.#lines = new LineSplitter((line, bytes) => this.#take(line, bytes))
  }

  /** Reads what is there now; one reading at a time. */
  catchUp(): Promise<void> {
    // A read that failed is no reason not to try again.
    this.#running = this.#running.catch(() => undefined).then(() => this.#read())
    return this.#running
  }

  /** Reads all that is there, and a last line that has no end. */
  async finish(): Promise<void> {
    await this.catchUp()
    if (this.#stopped) return
    this.#lines.end()
  }

  async #read(): Promise<void> {
    const file = await open(this.#path, 'r').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    })
    if (file === undefined) return
    try {
      const buffer = Buffer.allocUnsafe(CHUNK)
      while (!this.#stopped) {
        const { bytesRead } = await file.read(buffer, 0, CHUNK, this.#position)
        if (bytesRead === 0) return
        this.#position += bytesRead
        this.#lines.push(buffer.subarray(0, bytesRead))
      }
    } finally {
      await file.close()
    }
  }

  #take(line: string, bytes: number): void {
    if (this.#stopped) return
    const { reading } = this
    const events = this.#cli.readLine(reading, line, new Date(this.#now()).toISOString())
    reading.offset += bytes
    reading.lines += 1
    if (!this.#onLine(events, reading.offset)) this.#stopped = true
  }
}
