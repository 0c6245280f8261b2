import { spawn } from 'node:child_process'
import { closeSync, constants, openSync, writeFileSync } from 'node:fs'
import { processFacts, processOwner } from '@codex-thread-bridge/core/ledger'
import type { ProcessIdentity } from '../store/job-store.ts'
import type { JobFiles } from './job-files.ts'
import { JOB_VARIABLE, WRAPPER } from './wrapper.ts'

export interface Start {
  readonly jobId: string
  readonly files: JobFiles
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly prompt: string
}

const NEW = constants.O_CREAT | constants.O_EXCL

/**
 * Starts a CLI that needs us no more: a session of its own, the prompt from a private file, output straight to private
 * files. The job's directory must exist.
 * @throws what the system says when no process can be started; nothing runs then
 */
export const startJob = async (start: Start): Promise<ProcessIdentity> => {
  const { files, jobId } = start
  writeFileSync(files.prompt, start.prompt, { mode: 0o600, flag: 'wx' })
  const open = [
    openSync(files.prompt, constants.O_RDONLY),
    openSync(files.stdout, NEW | constants.O_WRONLY | constants.O_APPEND, 0o600),
    openSync(files.stderr, NEW | constants.O_WRONLY | constants.O_APPEND, 0o600),
  ]
  try {
    const child = spawn(
      '/bin/sh',
      ['-c', WRAPPER, 'codex-thread-bridge-job', files.directory, start.command, ...start.args],
      { cwd: start.cwd, env: { ...start.env, [JOB_VARIABLE]: jobId }, detached: true, stdio: open },
    )
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    child.unref()
    return identityOf(child.pid ?? 0)
  } finally {
    open.forEach(closeSync)
  }
}

/** Who has this pid now; a process that is gone already has no start time. */
export const identityOf = (pid: number): ProcessIdentity => ({
  pid,
  startTime: processFacts(pid)?.startTime ?? '',
  bootId: processOwner().bootId,
})
