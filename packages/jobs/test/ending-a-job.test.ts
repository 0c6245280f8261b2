import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { at, poll, standInPrompt } from '@codex-thread-bridge/test-fixtures'
import { expect, it } from 'vitest'
import { jobTree } from '../src/process/job-tree.ts'
import { jobsOfProcesses, processTable } from '../src/process/process-table.ts'
import { codexLines, withJobs, type JobsHost } from './support/jobs-host.ts'
import { countTree, pidIn, runs } from './support/processes.ts'

const result = (jobs: JobsHost, jobId: string) => jobs.call('get_result', { job_id: jobId })

/** Resolves when the stand-in has come so far. */
const reached = (path: string): Promise<unknown> => poll(() => existsSync(path), { what: `a file ${path}` })

it('a killed job stays failed and cancelled, even when its CLI then reports success and exits 0', () =>
  withJobs(async (jobs) => {
    const ready = join(jobs.work, 'ready')
    const jobId = await jobs.run(
      standInPrompt(
        { on: 'SIGINT', exit: 0 },
        { print: codexLines('done') },
        { touch: ready },
        { sleep: 60_000 },
      ),
    )
    await reached(ready)
    const killed = await jobs.call('kill_process', { job_id: jobId })
    expect(killed).toMatchObject({
      job_id: jobId,
      status: 'failed',
      outcome: 'cancelled',
      ended: 1,
      killed: 0,
    })
    expect(await result(jobs, jobId)).toMatchObject({
      status: 'failed',
      outcome: 'cancelled',
      exitCode: 0,
      reason: 'Ended by kill_process.',
      agentOutput: { message: 'done' },
    })
  }))

it('a job that ignores its stop signal runs until it is dead, and the kill answers then', () =>
  withJobs(async (jobs) => {
    const ready = join(jobs.work, 'ready')
    const jobId = await jobs.run(
      standInPrompt(
        { on: 'SIGINT', exit: null },
        { on: 'SIGTERM', exit: null },
        { touch: ready },
        { sleep: 60_000 },
      ),
    )
    await reached(ready)
    const pid = Number(at(await result(jobs, jobId), 'pid'))
    const killing = jobs.call('kill_process', { job_id: jobId, grace_seconds: 0.5 })
    expect(await result(jobs, jobId)).toMatchObject({ status: 'running' })
    expect(await killing).toMatchObject({ status: 'failed', outcome: 'cancelled', ended: 1, killed: 1 })
    expect(runs(pid)).toBe(false)
    expect(await result(jobs, jobId)).toMatchObject({ exitCode: 137, signal: 'SIGKILL' })
  }))

it('the end of the CLI is the end of the job, although a child of it holds its output open', () =>
  withJobs(async (jobs) => {
    const pidFile = join(jobs.work, 'pid')
    const jobId = await jobs.run(
      standInPrompt(
        { spawnSleep: 60, ownSession: true, pidFile },
        { print: codexLines('done') },
        { exit: 0 },
      ),
    )
    expect(await jobs.ended(jobId)).toMatchObject({ status: 'completed', agentOutput: { message: 'done' } })
    const child = await pidIn(pidFile)
    expect(runs(child)).toBe(true)
    process.kill(child, 'SIGKILL')
  }))

it.each([
  ['in its group', false],
  ['in a session of its own', true],
])('a kill leaves no process alive: a tool %s that outlives its parent', (_name, ownSession) =>
  withJobs(async (jobs) => {
    const files = ['a', 'b'].map((name) => join(jobs.work, name))
    const jobId = await jobs.run(
      standInPrompt(...files.map((pidFile) => ({ spawnSleep: 60, ownSession, pidFile })), { sleep: 60_000 }),
    )
    const tools = await Promise.all(files.map(pidIn))
    const pid = Number(at(await result(jobs, jobId), 'pid'))
    expect(await countTree(pid)).toBe(4)
    expect(await jobs.call('kill_process', { pid })).toMatchObject({
      outcome: 'cancelled',
      ended: 3,
      killed: 2,
    })
    expect([pid, ...tools].filter(runs)).toEqual([])
  }),
)

it.runIf(process.platform === 'linux')(
  'a kill finds a tool whose parent has died and that left group and session',
  () =>
    withJobs(async (jobs) => {
      const pidFile = join(jobs.work, 'tool')
      const jobId = await jobs.run(
        standInPrompt({ spawnSleep: 60, ownSession: true, pidFile }, { sleep: 60_000 }),
      )
      const tool = await pidIn(pidFile)
      const pid = Number(at(await result(jobs, jobId), 'pid'))
      const cli = (await processTable()).find(({ ppid }) => ppid === pid)?.pid ?? 0
      // The CLI alone: its tool goes to init. The wrapper hangs, so that the job is not seen as ended.
      process.kill(pid, 'SIGSTOP')
      process.kill(cli, 'SIGKILL')
      await poll(() => !runs(cli))
      const killing = jobs.call('kill_process', { job_id: jobId, grace_seconds: 0 })
      await poll(() => !runs(tool), { what: 'the end of the tool' })
      expect(await killing).toMatchObject({ outcome: 'cancelled' })
      expect([pid, tool].filter(runs)).toEqual([])
    }),
)

it('a second kill of a job that has ended changes nothing and says so', () =>
  withJobs(async (jobs) => {
    const jobId = await jobs.run(standInPrompt({ print: codexLines('done') }))
    await jobs.ended(jobId)
    expect(await jobs.call('kill_process', { job_id: jobId })).toMatchObject({
      status: 'completed',
      outcome: 'success',
      ended: 0,
      message: 'The job had ended already.',
    })
  }))

it('the same request_id kills once, and is answered again as before', () =>
  withJobs(async (jobs) => {
    const jobId = await jobs.run(standInPrompt({ sleep: 60_000 }))
    const kill = { job_id: jobId, request_id: 'kill-1' }
    const first = await jobs.call('kill_process', kill)
    expect(first).toMatchObject({ requestId: 'kill-1', outcome: 'cancelled', replayed: false })
    expect(await jobs.call('kill_process', kill)).toEqual({ ...(first as object), replayed: true })
  }))

it('a job is ended when its timeout_seconds are over', () =>
  withJobs(async (jobs) => {
    const jobId = await jobs.run(standInPrompt({ sleep: 60_000 }), { timeout_seconds: 1 })
    expect(await jobs.ended(jobId)).toMatchObject({
      status: 'failed',
      outcome: 'timed_out',
      reason: 'Ended when its timeout_seconds were over.',
    })
  }))

it('a job whose output grows above the limit is ended, and its error says which limit, and what raises it', () =>
  withJobs(
    async (jobs) => {
      const jobId = await jobs.run(
        standInPrompt(
          { print: '{"type":"error","message":"of the CLI"}\n' },
          { fill: 5_000_000, line: 'x'.repeat(99) + '\n' },
          { sleep: 60_000 },
        ),
      )
      const words = expect.stringMatching(
        /^Ended because its output grew to \d{7} bytes, above the limit of 1000000 bytes: raise --jobs-max-output\.$/,
      ) as unknown
      expect(await jobs.ended(jobId)).toMatchObject({
        status: 'failed',
        outcome: 'error',
        reason: words,
        agentOutput: { error: { kind: 'output_limit', message: words } },
      })
    },
    { jobs: { maxOutputBytes: 1_000_000 } },
  ))

it.each([
  ['exits 3', [{ print: codexLines('done') }, { exit: 3 }], { exitCode: 3, signal: null, outcome: 'error' }],
  ['prints nothing and exits 0', [], { exitCode: 0, signal: null, outcome: 'error' }],
  [
    'closes its stdout early',
    [{ print: codexLines('done') }, { closeStdout: true }, { exit: 0 }],
    { exitCode: 0, outcome: 'success' },
  ],
] as const)('a CLI that %s is told as it ended', (_name, steps, expected) =>
  withJobs(async (jobs) => {
    expect(await jobs.ended(await jobs.run(standInPrompt(...steps)))).toMatchObject(expected)
  }),
)

it('the words on stderr are the error of a CLI that says nothing else', () =>
  withJobs(async (jobs) => {
    const jobId = await jobs.run(
      standInPrompt({ printError: '\u001b[91mError: \u001b[0mSession not found\n' }, { exit: 1 }),
    )
    expect(await jobs.ended(jobId)).toMatchObject({
      outcome: 'error',
      agentOutput: { message: null, error: { kind: 'session', message: 'Error: Session not found' } },
    })
  }))

it('a claude that gave up to repeat its request has the reason as its error', () =>
  withJobs(async (jobs) => {
    const retry = {
      type: 'system',
      subtype: 'api_retry',
      attempt: 10,
      max_retries: 10,
      error_status: 429,
      error: 'rate_limit',
    }
    const prompt = standInPrompt({ print: `${JSON.stringify(retry)}\n` }, { exit: 1 })
    expect(await jobs.ended(await jobs.run(prompt, { agent: 'claude' }))).toMatchObject({
      outcome: 'error',
      agentOutput: {
        error: { kind: 'rate_limit', message: 'rate_limit, attempt 10 of 10', statusCode: 429 },
      },
    })
  }))

it('a job whose wrapper was killed alone runs until its CLI ends, and is judged by the closing event', () =>
  withJobs(async (jobs) => {
    const [ready, go] = [join(jobs.work, 'ready'), join(jobs.work, 'go')]
    const jobId = await jobs.run(
      standInPrompt({ touch: ready }, { waitFor: go }, { print: codexLines('done') }),
    )
    await reached(ready)
    const pid = Number(at(await result(jobs, jobId), 'pid'))
    process.kill(pid, 'SIGKILL')
    await poll(() => !runs(pid))
    expect(await result(jobs, jobId)).toMatchObject({ status: 'running' })
    writeFileSync(go, '')
    expect(await jobs.ended(jobId)).toMatchObject({
      status: 'completed',
      outcome: 'success',
      exitCode: null,
      agentOutput: { message: 'done' },
    })
  }))

it('a job whose processes vanish without a word is lost', () =>
  withJobs(async (jobs) => {
    const ready = join(jobs.work, 'ready')
    const jobId = await jobs.run(standInPrompt({ touch: ready }, { sleep: 60_000 }))
    await reached(ready)
    const { wrapper, members } = await jobTree(await jobs.identity(jobId))
    for (const { pid } of [...(wrapper === undefined ? [] : [wrapper]), ...members])
      process.kill(pid, 'SIGKILL')
    expect(await jobs.ended(jobId)).toMatchObject({ status: 'failed', outcome: 'lost', exitCode: null })
  }))

it.runIf(process.platform === 'linux')('a kill spares a job that an agent of the job has started', () =>
  withJobs(async (jobs) => {
    const pidFile = join(jobs.work, 'inner')
    const env = { CTB_JOB_ID: 'job-of-its-own' }
    const jobId = await jobs.run(
      standInPrompt({ spawnSleep: 60, ownSession: true, pidFile, env }, { sleep: 60_000 }),
    )
    const inner = await pidIn(pidFile)
    // While a process is being made, the system shows no environment of it.
    await poll(async () => (await jobsOfProcesses()).get(inner) === env.CTB_JOB_ID)
    expect(await jobs.call('kill_process', { job_id: jobId })).toMatchObject({ ended: 1 })
    expect(runs(inner)).toBe(true)
    process.kill(inner, 'SIGKILL')
  }),
)

it('a job that is killed while it starts is ended too, with its CLI', () =>
  withJobs(async (jobs) => {
    const started = join(jobs.work, 'started')
    for (let round = 0; round < 5; round += 1) {
      const jobId = await jobs.run(standInPrompt({ touch: started }, { sleep: 60_000 }))
      const { pid } = await jobs.identity(jobId)
      expect(await jobs.call('kill_process', { job_id: jobId })).toMatchObject({ outcome: 'cancelled' })
      expect(runs(pid ?? 0)).toBe(false)
      expect([...(await jobsOfProcesses()).values()]).not.toContain(jobId)
    }
  }))
