import { open } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Cli } from '../clis/cli.ts'
import type { JobEvent } from './events.ts'
import { readPassed } from './json-lines.ts'
import { LineSplitter } from './line-splitter.ts'
import type { Passed } from './passed-lines.ts'
import type { Reading } from './reading.ts'

const CHUNK = 262_144
/** After so long others have their turn, in milliseconds. */
const SLICE_MS = 10

/** Called for what was read, line by line; false stops the reading there. */
export type OnRead = (events: readonly JobEvent[], offset: number) => boolean

/**
 * Reads a job's stdout as it grows, once, from where the reading stands. Memory does not depend on the size of the
 * output: chunks are read one after another, and a line is let go of when it has been taken in.
 */
export class Follower {
  readonly reading: Reading
  readonly #path: string
  readonly #cli: Cli
  readonly #now: () => number
  readonly #onRead: OnRead
  readonly #lines: LineSplitter
  #position: number
  #time = ''
  #stopped = false
  #running: Promise<unknown> = Promise.resolve()

  constructor(path: string, cli: Cli, reading: Reading, now: () => number, onRead: OnRead = () => true) {
    this.reading = reading
    this.#path = path
    this.#cli = cli
    this.#now = now
    this.#onRead = onRead
    this.#position = reading.offset
    this.#lines = new LineSplitter(
      (line, bytes) => this.#take(line, bytes),
      cli.output === 'events' ? (passed) => this.#pass(passed) : undefined,
    )
  }

  /** Reads what is there, until `isEnough`; one reading at a time. True when there is no more. */
  catchUp(isEnough: () => boolean = () => false): Promise<boolean> {
    // A read that failed is no reason not to try again.
    const read = this.#running.catch(() => undefined).then(() => this.#read(isEnough))
    this.#running = read
    return read
  }

  /** The same for an output that grows no more: a last line may have no end. */
  async finish(isEnough?: () => boolean): Promise<boolean> {
    const all = await this.catchUp(isEnough)
    if (all) this.#lines.end()
    return all
  }

  async #read(isEnough: () => boolean): Promise<boolean> {
    const file = await open(this.#path, 'r').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    })
    if (file === undefined) return true
    try {
      const buffer = Buffer.allocUnsafe(CHUNK)
      while (!this.#stopped && !isEnough()) {
        const left = (this.reading.end ?? Infinity) - this.#position
        const { bytesRead } = await file.read(buffer, 0, Math.max(0, Math.min(CHUNK, left)), this.#position)
        if (bytesRead === 0) return true
        await this.#push(buffer.subarray(0, bytesRead), isEnough)
      }
      return false
    } finally {
      await file.close()
    }
  }

  async #push(chunk: Buffer, isEnough: () => boolean): Promise<void> {
    for (let at = 0; at < chunk.length && !this.#stopped && !isEnough();) {
      const until = performance.now() + SLICE_MS
      this.#time = new Date(this.#now()).toISOString()
      const next = this.#lines.push(chunk, at, () => this.#stopped || performance.now() >= until)
      this.#position += next - at
      at = next
      if (at < chunk.length) await nextTurn()
    }
  }

  #take(line: string, bytes: number): void {
    if (this.#stopped) return
    const events = this.#cli.readLine(this.reading, line, this.#time)
    this.#advance(1, bytes, events)
  }

  #pass(passed: Passed): void {
    if (this.#stopped) return
    readPassed(this.reading, passed)
    this.#advance(passed.lines, passed.bytes, [])
  }

  #advance(lines: number, bytes: number, events: readonly JobEvent[]): void {
    const { reading } = this
    reading.offset += bytes
    reading.lines += lines
    if (!this.#onRead(events, reading.offset)) this.#stopped = true
  }
}
