import { randomUUID } from 'node:crypto'
import { existsSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BridgeError, type Clock, type Log } from '@codex-thread-bridge/core/contract'
import { ensurePrivateDirectory } from '@codex-thread-bridge/core/ledger'
import { Compile } from 'typebox/compile'
import { environmentOf } from './clis/environment.ts'
import { clis } from './clis/index.ts'
import { importReferenceJobs } from './import/reference-registry.ts'
import { LiveJob } from './live-job.ts'
import type { JobsOptions } from './options.ts'
import { newJob, type NewRun } from './new-job.ts'
import { Follower } from './output/follower.ts'
import { newReading, Reading } from './output/reading.ts'
import { jobFiles, makeJobDirectory, outputFiles, removeJobFiles } from './process/job-files.ts'
import { removeJobs, type Removed, type Unwanted } from './remove-jobs.ts'
import { startJob } from './process/start-job.ts'
import { stopTree, type Stopped } from './process/stop-tree.ts'
import type { Job, StopReason } from './store/job.ts'
import { openJobStore, type JobStore } from './store/job-store.ts'
import { Supervisor } from './supervisor.ts'
import { lazily } from './lazily.ts'

const SETTLE_MS = 1_000
const LEAST_FREE_BYTES = 512 * 1_048_576
/** A start that is quick must not be slowed down by jobs that nobody asks for. */
const ADOPT_AFTER_MS = 250

const readingShape = lazily(() => Compile(Reading))

/** How a tool names a job. */
export interface JobName {
  readonly job_id?: string
  readonly pid?: number
}

/** All jobs of one state directory, as this process sees them. Opened when the first call needs it. */
export class Jobs {
  readonly options: JobsOptions
  readonly #clock: Clock
  readonly #log: Log
  readonly #live = new Map<string, LiveJob>()
  #store: Promise<JobStore> | undefined
  #open: JobStore | undefined
  #supervisor: Supervisor | undefined
  #adoption: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: JobsOptions, clock: Clock, log: Log) {
    this.options = options
    this.#clock = clock
    this.#log = log
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

  /** The job as it stands now. */
  async settle(job: Job): Promise<Job> {
    return job.status === 'running' ? (await this.live(job)).look() : job
  }

  /** Looks at every job that is written down as running; who has too much unread output is waited for so long only. */
  async settleRunning(ms = SETTLE_MS): Promise<void> {
    const store = await this.store()
    await Promise.all(store.running().map((job) => this.settleWithin(job, ms)))
  }

  /** The job as it stands; after `ms` of reading its output, as far as it was read. */
  async settleWithin(job: Job, ms: number): Promise<Job> {
    if (job.status !== 'running') return job
    const over = new AbortController()
    const asItStands = this.#clock.sleep(ms, over.signal).then(() => job)
    const settled = this.settle(job)
    for (const each of [asItStands, settled]) each.catch(() => undefined)
    return Promise.race([settled, asItStands]).finally(() => over.abort())
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
      reading: this.#savedReading(store, job.jobId) ?? newReading(),
      onFault: (error) => this.#log('warn', 'job_not_read', { jobId: job.jobId, error: nameOf(error) }),
    })
    const raced = this.#live.get(job.jobId)
    if (raced !== undefined) return raced
    this.#live.set(job.jobId, live)
    live.subscribe((seen) => {
      if (seen.status === 'running') return
      live.close()
      this.#live.delete(job.jobId)
    })
    live.watch()
    return live
  }

  /** What is known from the output of a job, read up to now. */
  async reading(job: Job): Promise<Reading> {
    const live = this.#live.get(job.jobId)
    if (live !== undefined) return live.follower.reading
    const store = await this.store()
    const saved = this.#savedReading(store, job.jobId)
    if (saved !== undefined) return saved
    const follower = this.followerOf(job, newReading())
    await follower.finish()
    store.saveReading(job.jobId, follower.reading.offset, JSON.stringify(follower.reading))
    return follower.reading
  }

  /** Reads the job's stdout from where a reading stands, apart from the shared one. */
  followerOf(job: Job, reading: Reading, onLine?: ConstructorParameters<typeof Follower>[4]): Follower {
    const { stdout } = outputFiles(this.options.stateDir, job)
    return new Follower(stdout, clis[job.agent], reading, () => this.#clock.now(), onLine)
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

  /** Ends every process of a job and tells how it stands then; nothing when it had ended. */
  async stop(
    job: Job,
    reason: StopReason,
    graceMs: number,
  ): Promise<{ readonly job: Job; readonly stopped: Stopped | undefined }> {
    const store = await this.store()
    const now = await this.settle(job)
    if (now.status !== 'running') return { job: now, stopped: undefined }
    store.requestStop(job.jobId, reason, this.#clock.now() / 1_000)
    const { stopSignal } = clis[job.agent]
    const stopped = await stopTree(now, { stopSignal, graceMs })
    return { job: await this.settle(now), stopped }
  }

  /** Forgets jobs that have ended. */
  async remove(wanted: Unwanted): Promise<Removed> {
    return removeJobs(await this.store(), this.options.stateDir, wanted)
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#clock.now()
  }

  /** Lets go of everything here; the jobs go on. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#adoption)
    this.#supervisor?.close()
    for (const live of this.#live.values()) live.close()
    this.#live.clear()
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
      stop: (job, reason, graceMs) => this.stop(job, reason, graceMs),
    })
    this.#supervisor.wake()
    return store
  }

  #savedReading(store: JobStore, jobId: string): Reading | undefined {
    const text = store.reading(jobId)
    if (text === undefined) return undefined
    const saved: unknown = JSON.parse(text)
    // A reading of another version is made again from the output.
    return readingShape().Check(saved) ? saved : undefined
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
