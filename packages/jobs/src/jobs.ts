import { randomUUID } from 'node:crypto'
import { existsSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BridgeError, type Clock, type Log } from '@codex-thread-bridge/core/contract'
import { ensurePrivateDirectory } from '@codex-thread-bridge/core/ledger'
import { environmentOf } from './clis/environment.ts'
import { clis } from './clis/index.ts'
import { importReferenceJobs } from './import/reference-registry.ts'
import { LiveJob } from './live-job.ts'
import type { JobsOptions } from './options.ts'
import { newJob, type NewRun } from './new-job.ts'
import { Follower, type OnRead } from './output/follower.ts'
import { JobOutputs } from './output/job-outputs.ts'
import type { Reading } from './output/reading.ts'
import { jobFiles, makeJobDirectory, outputFiles, removeJobFiles } from './process/job-files.ts'
import { removeJobs, type Removed, type Unwanted } from './remove-jobs.ts'
import { startJob } from './process/start-job.ts'
import { nothing, stopLeftovers, stopTree, type Stopped } from './process/stop-tree.ts'
import type { Job } from './store/job.ts'
import { openJobStore, type JobStore } from './store/job-store.ts'
import { Supervisor, type Stop } from './supervisor.ts'

const LEAST_FREE_BYTES = 512 * 1_048_576
/** A start that is quick must not be slowed down by jobs that nobody asks for. */
const ADOPT_AFTER_MS = 250

/** How a tool names a job. */
export interface JobName {
  readonly job_id?: string
  readonly pid?: number
}

/** What is known of a job's output. */
export interface Told {
  readonly reading: Reading
  /** How many bytes of it are not read yet; 0 when all that is there was read. */
  readonly unread: number
}

/** How a job stands after it was to be ended. */
export interface Ended {
  readonly job: Job
  /** It had ended by itself; `stopped` is then what it had left behind. */
  readonly before: boolean
  readonly stopped: Stopped
}

/** All jobs of one state directory, as this process sees them. Opened when the first call needs it. */
export class Jobs {
  readonly options: JobsOptions
  readonly #clock: Clock
  readonly #log: Log
  readonly #live = new Map<string, LiveJob>()
  readonly #outputs: JobOutputs
  #store: Promise<JobStore> | undefined
  #open: JobStore | undefined
  #supervisor: Supervisor | undefined
  #adoption: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: JobsOptions, clock: Clock, log: Log) {
    this.options = options
    this.#clock = clock
    this.#log = log
    this.#outputs = new JobOutputs(options.stateDir, () => clock.now())
  }

  /** Jobs that an earlier bridge left running are looked after again, soon, without holding anything up. */
  adoptSoon(): void {
    if (!existsSync(join(this.options.stateDir, 'jobs.sqlite3'))) return
    this.#adoption = setTimeout(() => {
      this.store().catch(() => this.#log('warn', 'jobs_not_adopted'))
    }, ADOPT_AFTER_MS).unref()
  }

  /** @throws BridgeError ledger_* */
  store(): Promise<JobStore> {
    this.#store ??= this.#openStore()
    // A failed opening is tried again at the next need.
    this.#store.catch(() => (this.#store = undefined))
    return this.#store
  }

  /** @throws BridgeError unknown_job */
  async find({ job_id: jobId, pid }: JobName): Promise<Job> {
    const store = await this.store()
    const found =
      jobId === undefined ? (pid === undefined ? undefined : store.newestWithPid(pid)) : store.get(jobId)
    if (found !== undefined) return found
    const field = jobId === undefined ? 'pid' : 'job_id'
    throw new BridgeError('unknown_job', `There is no job with ${field} ${JSON.stringify(jobId ?? pid)}.`, {
      field,
    })
  }

  /** The job as it stands now, whether or not its output was read. */
  async settle(job: Job): Promise<Job> {
    return job.status === 'running' ? (await this.live(job)).look() : job
  }

  /** Looks at every job that is written down as running. */
  async settleRunning(): Promise<void> {
    const store = await this.store()
    await Promise.all(store.running().map((job) => this.settle(job)))
  }

  /** The watched run of a job; for jobs that run. */
  async live(job: Job): Promise<LiveJob> {
    const known = this.#live.get(job.jobId)
    if (known !== undefined) return known
    const store = await this.store()
    const live = new LiveJob(job, {
      store,
      stateDir: this.options.stateDir,
      now: () => this.#clock.now(),
      output: this.#outputs.of(store, job),
      onFault: (error) => {
        if (!this.#closed) this.#log('warn', 'job_not_read', { jobId: job.jobId, error: nameOf(error) })
      },
    })
    const raced = this.#live.get(job.jobId)
    if (raced !== undefined) return raced
    this.#live.set(job.jobId, live)
    live.subscribe((seen) => {
      if (seen.status === 'running') return
      live.close()
      this.#live.delete(job.jobId)
      this.#release(job.jobId)
    })
    live.watch()
    return live
  }

  /** What is known from the output of a job, read up to now or for at most `ms`. */
  async read(job: Job, ms: number): Promise<Told> {
    const output = this.#outputs.of(await this.store(), job)
    if (job.status !== 'running') output.endHere()
    try {
      const all = await output.read(ms)
      return { reading: output.reading, unread: all ? 0 : output.size - output.reading.offset }
    } finally {
      if (job.status !== 'running') this.#release(job.jobId)
    }
  }

  /** Reads the job's stdout from where a reading stands, apart from the shared one. */
  followerOf(job: Job, reading: Reading, onRead: OnRead): Follower {
    const { stdout } = outputFiles(this.options.stateDir, job)
    return new Follower(stdout, clis[job.agent], reading, () => this.#clock.now(), onRead)
  }

  /** Starts a job that outlives us. @throws BridgeError too_many_jobs, disk_low, job_not_started, ledger_* */
  async start(run: NewRun): Promise<Job> {
    const store = await this.store()
    const jobId = `job-${randomUUID()}`
    const { maxRunning, stateDir, env, addedVariables } = this.options
    if (!store.insert(newJob(jobId, run, this.#clock.now() / 1_000), maxRunning)) {
      throw new BridgeError('too_many_jobs', `${maxRunning} jobs run already; more are not allowed here.`)
    }
    const { cli, model, effort, sessionId } = run.route
    const request = { ...run, model, effort, sessionId }
    const files = jobFiles(stateDir, jobId)
    try {
      makeJobDirectory(stateDir, files)
      const identity = await startJob({
        jobId,
        files,
        command: run.command,
        args: cli.args(request),
        cwd: run.workFolder,
        env: { ...environmentOf(cli, env, addedVariables), ...cli.environment?.(request) },
        prompt: run.prompt,
      })
      store.started(jobId, identity)
    } catch (error) {
      this.#neverRan(store, jobId)
      await removeJobFiles(files).catch(() => undefined)
      throw new BridgeError('job_not_started', `${cli.title} could not be started: ${messageOf(error)}.`, {
        cause: error,
      })
    }
    const job = await this.find({ job_id: jobId })
    await this.live(job)
    this.#supervisor?.wake()
    return job
  }

  /** @throws BridgeError disk_low, too_many_jobs: before anything is written down */
  async checkRoom(): Promise<void> {
    const store = await this.store()
    const { stateDir, maxRunning } = this.options
    const { bavail, bsize } = statfsSync(dirname(store.path))
    if (bavail * bsize < LEAST_FREE_BYTES)
      throw new BridgeError(
        'disk_low',
        `${stateDir} is on a disk with ${Math.floor((bavail * bsize) / 1_048_576)} MiB free.`,
      )
    if (store.running().length < maxRunning) return
    await this.settleRunning()
    const { length } = store.running()
    if (length >= maxRunning)
      throw new BridgeError('too_many_jobs', `${length} jobs run already; at most ${maxRunning} may.`)
  }

  /** Ends every process of a job, and tells how it stands then; of one that had ended, what it left behind. */
  async stop(job: Job, { reason, words }: Stop, graceMs: number): Promise<Ended> {
    const store = await this.store()
    const now = await this.settle(job)
    if (now.status !== 'running')
      return { job: now, before: true, stopped: await stopLeftovers(now, graceMs) }
    // Its CLI has ended within the limits: only its output is to be read.
    if (now.exitCode !== null && reason !== 'cancelled') return { job: now, before: true, stopped: nothing }
    store.requestStop(job.jobId, reason, this.#clock.now() / 1_000, words)
    const stopped = await stopTree(now, { stopSignal: clis[job.agent].stopSignal, graceMs })
    return { job: await this.settle(now), before: false, stopped }
  }

  /** Forgets jobs that have ended. */
  async remove(wanted: Unwanted): Promise<Removed> {
    return removeJobs(await this.store(), this.options.stateDir, wanted)
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#clock.now()
  }

  /** Whether everything here was let go of. */
  get closed(): boolean {
    return this.#closed
  }

  /** Lets go of everything here; the jobs go on. Resolves when nothing is open any more. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#adoption)
    this.#supervisor?.close()
    for (const live of this.#live.values()) live.close()
    this.#live.clear()
    await this.#outputs.close()
    this.#open?.close()
  }

  async #openStore(): Promise<JobStore> {
    ensurePrivateDirectory(this.options.stateDir)
    const store = await openJobStore(this.options.stateDir)
    if (this.#closed) {
      store.close()
      throw new BridgeError('host_state', 'The host is closed.')
    }
    this.#open = store
    importReferenceJobs(store, this.options, this.#clock.now() / 1_000, this.#log)
    this.#supervisor = new Supervisor({
      stateDir: this.options.stateDir,
      maxOutputBytes: this.options.maxOutputBytes,
      now: () => this.#clock.now(),
      log: this.#log,
      running: () => store.running(),
      look: (job) => {
        this.live(job).then(
          (live) => live.glance(),
          () => undefined,
        )
      },
      stop: (job, stop, graceMs) => this.stop(job, stop, graceMs),
    })
    if (this.options.supervise !== false) this.#supervisor.wake()
    return store
  }

  #release(jobId: string): void {
    this.#outputs.release(jobId).catch(() => undefined)
  }

  #neverRan(store: JobStore, jobId: string): void {
    store.finish(jobId, {
      status: 'failed',
      outcome: 'error',
      exitCode: null,
      signal: null,
      endedAt: this.#clock.now() / 1_000,
      reason: 'The process could not be started.',
    })
    store.remove(jobId)
  }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown')
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
