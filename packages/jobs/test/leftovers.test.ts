import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { processOwner } from '@codex-thread-bridge/core/ledger'
import { at, poll, standInPrompt } from '@codex-thread-bridge/test-fixtures'
import { expect, it } from 'vitest'
import { jobsOfProcesses } from '../src/process/process-table.ts'
import { openJobStore } from '../src/store/job-store.ts'
import { endedJob } from './support/ended-job.ts'
import { codexLines, withJobs, type JobsHost } from './support/jobs-host.ts'
import { pidIn, runs } from './support/processes.ts'

const isLinux = process.platform === 'linux'

/** A job whose CLI has ended by itself and left a tool running; the tool's pid. */
const leave = async (jobs: JobsHost, ownSession: boolean, env: object = {}) => {
  const pidFile = join(jobs.work, 'tool')
  const jobId = await jobs.run(
    standInPrompt({ spawnSleep: 60, ownSession, pidFile, env }, { print: codexLines('done') }),
  )
  const tool = await pidIn(pidFile)
  expect(await jobs.ended(jobId)).toMatchObject({ status: 'completed', outcome: 'success' })
  expect(runs(tool)).toBe(true)
  return { jobId, tool }
}

it.each([
  ['in its process group', false, {}],
  ...(isLinux ? ([['in a session of its own', true, {}]] as const) : []),
  // As one looks that has cleared its environment.
  ['in its process group, without its id', false, { CTB_JOB_ID: '' }],
] as const)(
  'a kill ends what a job has left running that had ended by itself: a tool %s',
  (_name, own, env) =>
    withJobs(async (jobs) => {
      const { jobId, tool } = await leave(jobs, own, env)
      if (isLinux) await poll(async () => runs(tool) && (await jobsOfProcesses()).has(tool))
      expect(await jobs.call('kill_process', { job_id: jobId, grace_seconds: 1 })).toMatchObject({
        status: 'completed',
        outcome: 'success',
        ended: 1,
        message: 'The job had ended already; 1 process that it had left running was ended.',
      })
      expect(runs(tool)).toBe(false)
      expect(await jobs.call('kill_process', { job_id: jobId })).toMatchObject({
        ended: 0,
        message: 'The job had ended already.',
      })
    }),
)

/** A process whose group has no leader any more: the group's number is a pid that nobody has. */
const orphan = async (): Promise<{ readonly pid: number; readonly group: number }> => {
  const shell: ChildProcess = spawn('/bin/sh', ['-c', 'sleep 60 >/dev/null & echo $!'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let told = ''
  shell.stdout?.on('data', (text: Buffer) => (told += text.toString()))
  await once(shell, 'close')
  return { pid: Number(told), group: shell.pid ?? 0 }
}

it('a kill of a job that ended long ago spares a group that got the number of the job’s since', () =>
  withJobs(async (jobs) => {
    const { pid, group } = await orphan()
    const now = Date.now() / 1_000
    const job = { pid: group, startTime: '1', bootId: processOwner().bootId }
    const store = await openJobStore(jobs.stateDir)
    store.insert(endedJob({ ...job, jobId: 'job-old', endedAt: now - 3_600 }), 1)
    store.insert(endedJob({ ...job, jobId: 'job-lost', exitCode: null, endedAt: now + 60 }), 1)
    store.insert(endedJob({ ...job, jobId: 'job-boot', bootId: 'an earlier boot', endedAt: now + 60 }), 1)
    store.close()
    for (const jobId of ['job-old', 'job-lost', 'job-boot'])
      expect(await jobs.call('kill_process', { job_id: jobId })).toMatchObject({ ended: 0 })
    expect(runs(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
  }))

it.runIf(isLinux && spawnSync('setsid', ['true']).status === 0)(
  'a kill claims no more than it looked for: a process that left group and parent and cleared its environment lives on',
  () =>
    withJobs(async (jobs) => {
      const pidFile = join(jobs.work, 'stray')
      const script = `env -i /usr/bin/env setsid /bin/sh -c 'echo $$ >${pidFile}; exec sleep 60' </dev/null >/dev/null 2>&1 &`
      const jobId = await jobs.run(standInPrompt({ shell: script }, { sleep: 60_000 }))
      const stray = await pidIn(pidFile)
      const killed = await jobs.call('kill_process', { job_id: jobId })
      expect(at(killed, 'message')).toBe(
        'No process lives any more in its process group, below its main process, or with its job id in the environment.',
      )
      expect(runs(stray)).toBe(true)
      process.kill(stray, 'SIGKILL')
    }),
)
