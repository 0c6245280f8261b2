import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  at,
  cliBinary,
  lastUserText,
  listAt,
  poll,
  startRealCli,
  type RealCli,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobTree } from '../src/process/job-tree.ts'
import { jobsOfProcesses } from '../src/process/process-table.ts'
import { withJobs, type JobsHost } from './support/jobs-host.ts'
import { runs } from './support/processes.ts'

const SLOW = 120_000

describe.each(['claude', 'opencode'] as const)('a job of the real %s', (agent) => {
  const binary = cliBinary(agent)
  if ('missing' in binary) {
    it.skip(`skipped: ${binary.missing}`, () => undefined)
    return
  }
  let real: RealCli
  beforeAll(async () => {
    real = await startRealCli(agent)
  })
  afterAll(() => real.close())

  const withCli = (act: (jobs: JobsHost) => Promise<void>): Promise<void> =>
    withJobs(act, { jobs: { env: real.env } })
  const run = (jobs: JobsHost, prompt: string, more: object = {}) => jobs.run(prompt, { agent, ...more })
  const ended = async (jobs: JobsHost, jobId: string): Promise<unknown> => {
    while (at(await jobs.call('wait', { job_ids: [jobId] }), 'timed_out') === true) continue
    return jobs.call('get_result', { job_id: jobId })
  }

  it(
    'tells its answer, its usage and its session, and goes on with the session',
    () =>
      withCli(async (jobs) => {
        real.model.reply({ text: 'Three files. 日本語 ✓' }, { text: 'As I said.' })
        const first = await ended(jobs, await run(jobs, '--version'))
        expect(first).toMatchObject({
          status: 'completed',
          outcome: 'success',
          exitCode: 0,
          agentOutput: { message: 'Three files. 日本語 ✓' },
          usage: { outputTokens: 3 },
        })
        expect(lastUserText(real.model.requests.at(-1))).toContain('--version')
        const session_id = String(at(first, 'session_id'))
        const second = await ended(jobs, await run(jobs, 'How many?', { session_id }))
        expect(second).toMatchObject({ outcome: 'success', agentOutput: { message: 'As I said.' } })
        expect(JSON.stringify(real.model.requests.at(-1))).toContain('Three files.')
        // claude forks, opencode goes on in place.
        expect(at(second, 'session_id') === session_id).toBe(agent === 'opencode')
      }),
    SLOW,
  )

  it(
    'an error of the model’s server is its error, with the kind',
    () =>
      withCli(async (jobs) => {
        real.model.reply({ status: 401, message: 'bad key' })
        const result = await ended(jobs, await run(jobs, 'Count.'))
        expect(result).toMatchObject({
          status: 'failed',
          outcome: 'error',
          agentOutput: { error: { kind: 'auth', statusCode: 401 } },
        })
      }),
    SLOW,
  )

  it(
    'an unknown session is told as such',
    () =>
      withCli(async (jobs) => {
        const session_id = agent === 'claude' ? '00000000-0000-4000-8000-000000000000' : 'ses_doesnotexist'
        const result = await ended(jobs, await run(jobs, 'Count.', { session_id }))
        expect(result).toMatchObject({ outcome: 'error' })
        expect(String(at(result, 'agentOutput.error.message'))).toMatch(/not found|no conversation/i)
      }),
    SLOW,
  )

  it.each([
    ['read-only', false],
    ['workspace-write', agent === 'claude'],
  ])(
    'with %s a shell command that writes a file runs unattended: %s',
    (access, written) =>
      withCli(async (jobs) => {
        const path = join(jobs.work, 'written')
        real.model.reply({ shell: `echo x > ${path}` }, { text: 'done' })
        const result = await ended(jobs, await run(jobs, 'Write it.', { access }))
        expect(result).toMatchObject({ status: 'completed' })
        expect(existsSync(path)).toBe(written)
      }),
    SLOW,
  )

  it(
    'peek tells its messages and tools, each once',
    () =>
      withCli(async (jobs) => {
        const access = agent === 'claude' ? 'workspace-write' : 'danger-full-access'
        real.model.reply({ shell: 'echo hello' }, { text: 'It says hello.' })
        const jobId = await run(jobs, 'Say hello.', { access })
        await ended(jobs, jobId)
        const peeked = await jobs.call('peek', {
          job_ids: [jobId],
          after: ['start'],
          include_tool_calls: true,
        })
        const [process] = listAt(peeked, 'processes')
        const events = listAt(process, 'events')
        expect(events.at(-1)).toMatchObject({ kind: 'message', text: 'It says hello.' })
        expect(
          events.filter((event) => at(event, 'kind') === 'tool_call' && at(event, 'phase') === 'completed'),
        ).toHaveLength(1)
      }),
    SLOW,
  )

  it(
    'a kill leaves no process of it alive, its running tool included',
    () =>
      withCli(async (jobs) => {
        const access = agent === 'claude' ? 'workspace-write' : 'danger-full-access'
        const ready = join(jobs.work, 'ready')
        real.model.reply({ shell: `touch ${ready}; sleep 300; echo done` })
        const jobId = await run(jobs, 'Sleep.', { access })
        await poll(() => existsSync(ready), { timeoutMs: SLOW })
        const { members } = await jobTree(await jobs.identity(jobId))
        expect(members.length).toBeGreaterThanOrEqual(2)
        expect(await jobs.call('kill_process', { job_id: jobId })).toMatchObject({
          status: 'failed',
          outcome: 'cancelled',
        })
        expect(members.map(({ pid }) => pid).filter(runs)).toEqual([])
        expect([...(await jobsOfProcesses()).values()]).not.toContain(jobId)
      }),
    SLOW,
  )
})
