import { Compile } from 'typebox/compile'
import { clis } from '../clis/index.ts'
import { lazily } from '../lazily.ts'
import { outputFiles } from '../process/job-files.ts'
import type { Job } from '../store/job.ts'
import type { JobStore } from '../store/job-store.ts'
import { JobOutput } from './job-output.ts'
import { newReading, Reading } from './reading.ts'

const readingShape = lazily(() => Compile(Reading))

/** The outputs that this process reads, one for each job, whoever asks. */
export class JobOutputs {
  readonly #stateDir: string
  readonly #now: () => number
  readonly #open = new Map<string, JobOutput>()

  constructor(stateDir: string, now: () => number) {
    this.#stateDir = stateDir
    this.#now = now
  }

  /** The output of a job, from where the store's reading of it stands. */
  of(store: JobStore, job: Job): JobOutput {
    const known = this.#open.get(job.jobId)
    if (known !== undefined) return known
    const output = new JobOutput({
      path: outputFiles(this.#stateDir, job).stdout,
      cli: clis[job.agent],
      reading: savedReading(store, job.jobId) ?? newReading(),
      now: this.#now,
      save: (reading) => store.saveReading(job.jobId, reading.offset, JSON.stringify(reading)),
    })
    this.#open.set(job.jobId, output)
    return output
  }

  /** Lets go of the output of a job, once nobody reads it; the store has its reading. */
  async release(jobId: string): Promise<void> {
    const output = this.#open.get(jobId)
    await output?.idle()
    if (output?.isIdle === true && this.#open.get(jobId) === output) this.#open.delete(jobId)
  }

  /** Resolves when no reading goes on any more. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((output) => output.close()))
    this.#open.clear()
  }
}

const savedReading = (store: JobStore, jobId: string): Reading | undefined => {
  const text = store.reading(jobId)
  if (text === undefined) return undefined
  const saved: unknown = JSON.parse(text)
  // A reading of another version is made again from the output.
  return readingShape().Check(saved) ? saved : undefined
}
