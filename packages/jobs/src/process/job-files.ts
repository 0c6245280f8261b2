import { mkdirSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ensurePrivateDirectory } from '@codex-thread-bridge/core/ledger'
import type { Job } from '../store/job.ts'

/** Where the files of one job are: a directory of its own, named by the job id, for this user alone. */
export interface JobFiles {
  readonly directory: string
  readonly prompt: string
  readonly stdout: string
  readonly stderr: string
  /** The pid of the wrapper, written by itself before anything else. */
  readonly pid: string
  /** The exit status as a shell counts it, written when the CLI has ended. */
  readonly exit: string
}

export const jobFiles = (stateDir: string, jobId: string): JobFiles => {
  const directory = join(stateDir, 'jobs', jobId)
  const file = (name: string): string => join(directory, name)
  return {
    directory,
    prompt: file('prompt'),
    stdout: file('stdout.log'),
    stderr: file('stderr.log'),
    pid: file('pid'),
    exit: file('exit'),
  }
}

/** The files that hold the output of a job: its own, or those of the server it was imported from. */
export const outputFiles = (
  stateDir: string,
  job: Pick<Job, 'jobId' | 'foreignStdout' | 'foreignStderr'>,
): { readonly stdout: string; readonly stderr: string } => {
  const own = jobFiles(stateDir, job.jobId)
  return { stdout: job.foreignStdout ?? own.stdout, stderr: job.foreignStderr ?? own.stderr }
}

/** @throws BridgeError ledger_not_private; file-system errors as they come */
export const makeJobDirectory = (stateDir: string, { directory }: JobFiles): void => {
  ensurePrivateDirectory(join(stateDir, 'jobs'))
  mkdirSync(directory, { mode: 0o700 })
}

/** Bytes of a file; 0 when there is none. */
export const fileSize = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Removes a job's directory; the bytes that it held. */
export const removeJobFiles = async (files: JobFiles): Promise<number> => {
  const freed = [files.prompt, files.stdout, files.stderr].reduce((sum, path) => sum + fileSize(path), 0)
  await rm(files.directory, { recursive: true, force: true })
  return freed
}
