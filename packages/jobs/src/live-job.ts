import { statSync, watch, type FSWatcher } from 'node:fs'
import { isAlive, Owner, processOwner } from '@codex-thread-bridge/core/ledger'
import { Compile } from 'typebox/compile'
import { clis } from './clis/index.ts'
import { endingOf } from './ending.ts'
import type { JobOutput } from './output/job-output.ts'
import { readEnd } from './output/read-end.ts'
import type { Reading } from './output/reading.ts'
import { readExitStatus, readNumber } from './process/exit-status.ts'
import { jobFiles, type JobFiles } from './process/job-files.ts'
import { jobTree } from './process/job-tree.ts'
import { jobsOfProcesses } from './process/process-table.ts'
import { identityOf } from './process/start-job.ts'
import type { Job } from './store/job.ts'
import type { JobStore } from './store/job-store.ts'
import { lazily } from './lazily.ts'

/** The output is read on in pieces of so long. */
const READ_MS = 1_000
/** An output that takes longer to be read is judged by its end alone. */
const JUDGE_MS = 500

const owner = lazily(() => Compile(Owner))

/** Where a job's process stands. */
type Standing = 'running' | 'ended' | 'never_started'

export interface LiveJobParts {
  readonly store: JobStore
  readonly stateDir: string
  readonly now: () => number
  readonly output: JobOutput
  /** Something that a look found out went wrong in the background. */
  readonly onFault: (error: unknown) => void
}

/**
 * A job that runs, as this process sees it: its output is read as it grows, and its end is noticed by whoever looks
 * first, of all the processes on the store. How it stands is known whether or not its output was read. Nothing here
 * belongs to the process that started it.
 */
export class LiveJob {
  readonly jobId: string
  readonly #agent: Job['agent']
  readonly #parts: LiveJobParts
  readonly #files: JobFiles
  readonly #listeners = new Set<(job: Job) => void>()
  #watcher: FSWatcher | undefined
  #looking: Promise<Job> | undefined
  #again = false
  #reading = false
  #more = false
  #closed = false

  constructor(job: Pick<Job, 'jobId' | 'agent'>, parts: LiveJobParts) {
    this.jobId = job.jobId
    this.#agent = job.agent
    this.#parts = parts
    this.#files = jobFiles(parts.stateDir, job.jobId)
  }

  /** Called when output was read, and when the job has ended. Returns the unsubscribe. */
  subscribe(listener: (job: Job) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** From now on changes in the job's directory are looked at as they come. */
  watch(): void {
    if (this.#watcher !== undefined) return
    try {
      this.#watcher = watch(this.#files.directory, { persistent: false }, (_event, name) =>
        name === 'stdout.log' ? this.#readOn() : this.glance(),
      )
      this.#watcher.on('error', () => this.#unwatch())
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

  /** The job as it stands; one look at a time. */
  async look(): Promise<Job> {
    while (this.#looking !== undefined) await this.#looking.catch(() => undefined)
    this.#looking = this.#look()
    try {
      const job = await this.#looking
      this.#tell(job)
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
    this.#closed = true
    this.#unwatch()
  }

  #unwatch(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }

  #tell(job: Job): void {
    for (const listener of [...this.#listeners]) listener(job)
  }

  async #look(): Promise<Job> {
    const { store, output } = this.#parts
    const before = this.#stored()
    if (before.status !== 'running') return before
    const standing = await this.#standing(before)
    if (standing === 'running') {
      this.#readOn()
      return store.get(this.jobId) ?? before
    }
    output.endHere()
    if (standing === 'never_started') return this.#end(output.reading, true)
    return this.#judge()
  }

  #stored(): Job {
    const job = this.#parts.store.get(this.jobId)
    if (job === undefined) throw new Error(`job ${this.jobId} was removed while it ran`)
    return job
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

  /** Its process has ended: how, is known from what ended it, from its output, or from the end of a large output. */
  async #judge(): Promise<Job> {
    const { output } = this.#parts
    const { reading } = output
    if (this.#stored().stopReason !== null || (await output.read(JUDGE_MS))) return this.#end(reading)
    const last = await readEnd(this.#files.stdout, clis[this.#agent], reading, output.size)
    const job = this.#stored()
    if (last !== undefined || job.stopReason !== null) return this.#end(last ?? reading)
    this.#readOn()
    const exit = readExitStatus(this.#files.exit)
    const reason = 'Its CLI has ended; all of its output has to be read to tell how.'
    return { ...job, exitCode: exit?.exitCode ?? null, signal: exit?.signal ?? null, reason }
  }

  #end(said: Reading, neverStarted = false): Job {
    const { store, output, now } = this.#parts
    // Asked again: a stop may have been asked for while we read.
    const job = this.#stored()
    const exit = readExitStatus(this.#files.exit)
    const ending = endingOf(job, clis[job.agent], said, {
      exit,
      neverStarted,
      rebooted: job.bootId !== null && job.bootId !== processOwner().bootId,
      endedAt: exit === undefined ? now() / 1_000 : statSync(this.#files.exit).mtimeMs / 1_000,
    })
    // In this order: where the output of what has ended ends is known.
    output.saveNow()
    store.finish(this.jobId, ending)
    return store.get(this.jobId) ?? job
  }

  /** Reads in the background what has come, and tells of it. */
  #readOn(): void {
    this.#more = true
    if (this.#reading) return
    this.#reading = true
    this.#readAll()
      .catch(this.#parts.onFault)
      .finally(() => (this.#reading = false))
  }

  async #readAll(): Promise<void> {
    const { store, output } = this.#parts
    while (this.#more && !this.#closed) {
      this.#more = false
      const all = await output.read(READ_MS)
      if (this.#closed) return
      if (!all) this.#more = true
      const job = store.get(this.jobId)
      if (job !== undefined) this.#tell(job)
      // What had ended could not be judged before.
      if (all && output.reading.end !== undefined) this.glance()
    }
  }
}
