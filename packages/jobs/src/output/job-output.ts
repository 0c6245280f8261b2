import type { Cli } from '../clis/cli.ts'
import { fileSize } from '../process/job-files.ts'
import { Follower } from './follower.ts'
import type { Reading } from './reading.ts'

const SAVE_EVERY_MS = 2_000

export interface JobOutputParts {
  readonly path: string
  readonly cli: Cli
  readonly reading: Reading
  readonly now: () => number
  /** Keeps the reading, so that another process goes on with it. */
  readonly save: (reading: Reading) => void
}

/** A job's stdout as this process reads it: one reading, whoever asks, and for as long as somebody asks. */
export class JobOutput {
  readonly #parts: JobOutputParts
  readonly #follower: Follower
  /** Until when somebody waits for it, on performance.now. */
  #until = 0
  #again = false
  #running: Promise<boolean> | undefined
  #closed = false
  #savedAt = 0
  #savedOffset: number

  constructor(parts: JobOutputParts) {
    this.#parts = parts
    this.#follower = new Follower(parts.path, parts.cli, parts.reading, parts.now)
    this.#savedOffset = parts.reading.offset
  }

  /** As far as it is read; it grows with the reading. */
  get reading(): Reading {
    return this.#follower.reading
  }

  /** Bytes of all that is there, read or not. */
  get size(): number {
    return this.reading.end ?? fileSize(this.#parts.path)
  }

  /** The job has ended: what is there now is all of its output. */
  endHere(): void {
    this.reading.end ??= this.size
  }

  /** Reads on for at most `ms`; true when all that is there was read. */
  async read(ms: number): Promise<boolean> {
    if (this.#isRead) return true
    this.#until = Math.max(this.#until, performance.now() + ms)
    this.#again = true
    this.#running ??= this.#readOn()
    const all = await within(ms, this.#running)
    this.#save()
    return all
  }

  /** Keeps the reading as it stands. */
  saveNow(): void {
    this.#savedOffset = this.reading.offset
    this.#savedAt = this.#parts.now()
    this.#parts.save(this.reading)
  }

  /** Resolves when nothing is read, at the latest soon after nobody waits for it any more. */
  async idle(): Promise<void> {
    await this.#running?.catch(() => undefined)
  }

  get isIdle(): boolean {
    return this.#running === undefined
  }

  get #isRead(): boolean {
    const { end, offset } = this.reading
    return end !== undefined && offset >= end
  }

  /** Resolves when nothing is open any more. */
  close(): Promise<void> {
    this.#closed = true
    return this.idle()
  }

  /** Whoever asks while it goes on has the output read up to then, too. */
  async #readOn(): Promise<boolean> {
    const isEnough = (): boolean => this.#closed || performance.now() >= this.#until
    try {
      for (;;) {
        this.#again = false
        const all = await (this.reading.end === undefined
          ? this.#follower.catchUp(isEnough)
          : this.#follower.finish(isEnough))
        if (!this.#again || isEnough()) return all
      }
    } finally {
      this.#running = undefined
    }
  }

  #save(): void {
    const { offset, end } = this.reading
    const isDue = end !== undefined || this.#parts.now() - this.#savedAt >= SAVE_EVERY_MS
    if (!this.#closed && offset !== this.#savedOffset && isDue) this.saveNow()
  }
}

/** False when it has not come after `ms`. */
const within = async (ms: number, coming: Promise<boolean>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, false)))
  return Promise.race([coming, over]).finally(() => clearTimeout(timer))
}
