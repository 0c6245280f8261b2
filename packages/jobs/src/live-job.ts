import { statSync, watch, type FSWatcher } from 'node:fs'
import { isAlive, Owner, processOwner } from '@codex-thread-bridge/core/ledger'
import { Compile } from 'typebox/compile'
import { clis } from './clis/index.ts'
import { endingOf } from './ending.ts'
import { Follower } from './output/follower.ts'
import type { Reading } from './output/reading.ts'
import { readExitStatus, readNumber } from './process/exit-status.ts'
import { jobFiles, type JobFiles } from './process/job-files.ts'
import { jobTree } from './process/job-tree.ts'
import { jobsOfProcesses } from './process/process-table.ts'
import { identityOf } from './process/start-job.ts'
import type { Job } from './store/job.ts'
import type { JobStore } from './store/job-store.ts'
import { lazily } from './lazily.ts'

const SAVE_EVERY_MS = 2_000

const owner = lazily(() => Compile(Owner))

/** Where a job's process stands. */
type Standing = 'running' | 'ended' | 'never_started'

export interface LiveJobParts {
  readonly store: JobStore
  readonly stateDir: string
  readonly now: () => number
  readonly reading: Reading
  /** Something that a look found out went wrong in the background. */
  readonly onFault: (error: unknown) => void
}

/**
 * A job that runs, as this process sees it: its output is read as it grows, and its end is noticed by whoever looks
 * first, of all the processes on the store. Nothing here belongs to the process that started it.
 */
export class LiveJob {
  readonly jobId: string
  readonly follower: Follower
  readonly #parts: LiveJobParts
  readonly #files: JobFiles
  readonly #listeners = new Set<(job: Job) => void>()
  #watcher: FSWatcher | undefined
  #looking: Promise<Job> | undefined
  #again = false
  #savedAt = 0
  #savedOffset: number

  constructor(job: Pick<Job, 'jobId' | 'agent'>, parts: LiveJobParts) {
    this.jobId = job.jobId
    this.#parts = parts
    this.#files = jobFiles(parts.stateDir, job.jobId)
    this.follower = new Follower(this.#files.stdout, clis[job.agent], parts.reading, parts.now)
    this.#savedOffset = parts.reading.offset
  }

  /** Called when the output has grown, and when the job has ended. Returns the unsubscribe. */
  subscribe(listener: (job: Job) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** From now on changes in the job's directory are looked at as they come. */
  watch(): void {
    if (this.#watcher !== undefined) return
    try {
      this.#watcher = watch(this.#files.directory, { persistent: false }, () => this.glance())
      this.#watcher.on('error', () => this.close())
    } catch {
      // No watch to be had: the supervisor looks all the same.
    }
  }

  /** A look that nobody waits for. */
  glance(): void {
    if (this.#looking !== undefined) {
      this.#again = true
      return
    }
    this.look().catch(this.#parts.onFault)
  }

  /** The job as it stands, its output read up to now; one look at a time. */
  async look(): Promise<Job> {
    while (this.#looking !== undefined) await this.#looking.catch(() => undefined)
    this.#looking = this.#look()
    try {
      const job = await this.#looking
      for (const listener of [...this.#listeners]) listener(job)
      return job
    } finally {
      this.#looking = undefined
      if (this.#again) {
        this.#again = false
        setImmediate(() => this.glance())
      }
    }
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }

  async #look(): Promise<Job> {
    const { store } = this.#parts
    const before = store.get(this.jobId)
    if (before === undefined) throw new Error(`job ${this.jobId} was removed while it ran`)
    if (before.status !== 'running') return before
    const standing = await this.#standing(before)
    if (standing === 'running') {
      await this.follower.catchUp()
      this.#save()
      return store.get(this.jobId) ?? before
    }
    await this.follower.finish()
    return this.#end(standing === 'never_started')
  }

  async #standing(job: Job): Promise<Standing> {
    if (readExitStatus(this.#files.exit) !== undefined) return 'ended'
    if (job.bootId !== null && job.bootId !== processOwner().bootId) return 'ended'
    if (job.pid === null) return this.#unidentified(job)
    if (isAlive({ pid: job.pid, startTime: job.startTime ?? '', bootId: job.bootId ?? '' })) return 'running'
    // The wrapper may have been killed alone: the CLI goes on without it.
    const { members } = await jobTree(job)
    return members.length > 0 && readExitStatus(this.#files.exit) === undefined ? 'running' : 'ended'
  }

  /** Its starter has not said, or could not say, which process it is; the wrapper itself may have. */
  async #unidentified(job: Job): Promise<Standing> {
    const starter: unknown = job.starter === null ? null : JSON.parse(job.starter)
    if (owner().Check(starter) && isAlive(starter)) return 'running'
    const pid = readNumber(this.#files.pid)
    if (pid === undefined) return 'never_started'
    const identity = identityOf(pid)
    // Its pid may be another's by now: where that can be told, only a process of this job is taken for it.
    const told = (await jobsOfProcesses()).get(pid)
    const isIt = process.platform !== 'linux' || told === this.jobId
    this.#parts.store.started(this.jobId, isIt ? identity : { ...identity, startTime: '' })
    return 'running'
  }

  #end(neverStarted: boolean): Job {
    const { store } = this.#parts
    const { reading } = this.follower
    // Asked again: a stop may have been asked for while we read.
    const job = store.get(this.jobId)
    if (job === undefined) throw new Error(`job ${this.jobId} was removed while it ran`)
    const exit = readExitStatus(this.#files.exit)
    const ending = endingOf(job, clis[job.agent], reading, {
      exit,
      neverStarted,
      rebooted: job.bootId !== null && job.bootId !== processOwner().bootId,
      endedAt: exit === undefined ? this.#parts.now() / 1_000 : statSync(this.#files.exit).mtimeMs / 1_000,
    })
    // In this order: what is ended is never read again.
    store.saveReading(this.jobId, reading.offset, JSON.stringify(reading))
    store.finish(this.jobId, ending)
    return store.get(this.jobId) ?? job
  }

  #save(): void {
    const { store, now } = this.#parts
    const { reading } = this.follower
    if (reading.offset === this.#savedOffset || now() - this.#savedAt < SAVE_EVERY_MS) return
    store.saveReading(this.jobId, reading.offset, JSON.stringify(reading))
    this.#savedOffset = reading.offset
    this.#savedAt = now()
  }
}
