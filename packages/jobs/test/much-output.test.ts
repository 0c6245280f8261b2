import { existsSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { at, listAt, poll, standInPrompt, tempDir, type Step } from '@codex-thread-bridge/test-fixtures'
import { afterAll, describe, expect, it } from 'vitest'
import { clis } from '../src/clis/index.ts'
import { Follower } from '../src/output/follower.ts'
import { LineSplitter } from '../src/output/line-splitter.ts'
import { newReading } from '../src/output/reading.ts'
import type { Agent } from '../src/store/job.ts'
import { codexLines, withJobs, type JobsHost } from './support/jobs-host.ts'
import { runs } from './support/processes.ts'

/** More than anybody reads in an hour. It takes no room: all of it is a hole in the file. */
const ENDLESS = 1_000_000_000_000

const unlimited = { jobs: { maxOutputBytes: Number.MAX_SAFE_INTEGER } }

const stdoutOf = (jobs: JobsHost, jobId: string): string => join(jobs.stateDir, 'jobs', jobId, 'stdout.log')

/** A job with endless output that goes on with `steps` once the file `go` is there. */
const startEndless = async (
  jobs: JobsHost,
  steps: readonly Step[] = [],
  more: object = {},
): Promise<string> => {
  const ready = join(jobs.work, 'ready')
  const jobId = await jobs.run(
    standInPrompt({ touch: ready }, { waitFor: join(jobs.work, 'go') }, ...steps),
    more,
  )
  await poll(() => existsSync(ready))
  truncateSync(stdoutOf(jobs, jobId), ENDLESS)
  return jobId
}
const go = (jobs: JobsHost): void => writeFileSync(join(jobs.work, 'go'), '')

describe('however much output of a job is unread', () => {
  it('a kill answers when the job is dead, and its result tells how much is unread', () =>
    withJobs(async (jobs) => {
      const jobId = await startEndless(jobs)
      const { pid } = await jobs.identity(jobId)
      expect(await jobs.call('kill_process', { job_id: jobId })).toMatchObject({
        status: 'failed',
        outcome: 'cancelled',
        ended: 1,
      })
      expect(runs(pid ?? 0)).toBe(false)
      expect(await jobs.call('get_result', { job_id: jobId })).toMatchObject({
        status: 'failed',
        outcome: 'cancelled',
        unreadBytes: ENDLESS,
      })
    }, unlimited))

  it('it is ended by the limit on output, and its error names size, limit and option', () =>
    withJobs(
      async (jobs) => {
        const jobId = await startEndless(jobs)
        const { results } = (await jobs.call('wait', { job_ids: [jobId] })) as { results: unknown[] }
        const words =
          'Ended because its output grew to 1000000000000 bytes, above the limit of 1000000 bytes: raise --jobs-max-output.'
        expect(results).toMatchObject([
          {
            status: 'failed',
            outcome: 'error',
            reason: words,
            agentOutput: { error: { kind: 'output_limit', message: words } },
          },
        ])
      },
      { jobs: { maxOutputBytes: 1_000_000 } },
    ))

  it('its status and outcome are known when it has ended: a closing event comes last', () =>
    withJobs(async (jobs) => {
      const jobId = await startEndless(jobs, [{ print: `\n${codexLines('done')}` }])
      const waiting = jobs.call('wait', { job_ids: [jobId] })
      go(jobs)
      expect(listAt(await waiting, 'results')).toMatchObject([
        { job_id: jobId, status: 'completed', outcome: 'success', exitCode: 0 },
      ])
    }, unlimited))

  it('its exit code is told when its last lines do not say how it ended; no limit ends it any more, but a kill does', () =>
    withJobs(async (jobs) => {
      const jobId = await startEndless(jobs, [{ exit: 3 }], { timeout_seconds: 5 })
      go(jobs)
      await poll(async () => at(await jobs.call('get_result', { job_id: jobId }), 'exitCode') === 3, {
        timeoutMs: 30_000,
      })
      expect(await jobs.call('get_result', { job_id: jobId })).toMatchObject({
        status: 'running',
        reason: 'Its CLI has ended; all of its output has to be read to tell how.',
        unreadBytes: ENDLESS,
      })
      expect(await jobs.call('kill_process', { job_id: jobId })).toMatchObject({
        status: 'failed',
        outcome: 'cancelled',
      })
    }, unlimited))

  it('a peek answers in its time, says that there is more, and begins at the end unless asked otherwise', () =>
    withJobs(async (jobs) => {
      const jobId = await startEndless(jobs)
      const peek = async (more: object) =>
        listAt(await jobs.call('peek', { job_ids: [jobId], peek_time_sec: 1, ...more }), 'processes')
      expect(await peek({ after: ['start'] })).toMatchObject([
        { status: 'running', events: [], truncated: true, cursor: `p0:${jobId}` },
      ])
      expect(await peek({})).toMatchObject([
        { status: 'running', truncated: false, cursor: `p${ENDLESS}:${jobId}` },
      ])
      await jobs.call('kill_process', { job_id: jobId })
    }, unlimited))

  it('nothing is read any more when the host is closed', () =>
    withJobs(async (jobs) => {
      const jobId = await startEndless(jobs)
      const second = await jobs.another()
      const reading = second.call('get_result', { job_id: jobId }).catch(() => undefined)
      await poll(() => process.getActiveResourcesInfo().includes('FSReqPromise'), { every: 1 })
      await jobs.call('kill_process', { job_id: jobId })
      await jobs.host.close()
      await second.close()
      await reading
      expect(process.getActiveResourcesInfo().filter((name) => name === 'FSReqPromise')).toEqual([])
    }, unlimited))
})

describe('lines', () => {
  const root = tempDir('jl')
  afterAll(() => root.remove())
  const read = async (agent: Agent, text: string) => {
    const path = join(root.path, agent)
    writeFileSync(path, text)
    const follower = new Follower(path, clis[agent], newReading(), () => 0)
    await follower.finish()
    expect(follower.reading.offset).toBe(statSync(path).size)
    return follower.reading
  }

  it('that are no events are passed over by the ten million, the last of them remembered', async () => {
    expect(await read('codex', `${'y\n'.repeat(20_000_000)}the end\n\n`)).toMatchObject({
      lines: 20_000_002,
      strangeLines: 20_000_001,
      strangeText: 'the end',
    })
  })

  it('of a CLI without events are read fast when its message is full', async () => {
    const { message, lines } = await read('antigravity', `${'x'.repeat(79)}\n`.repeat(250_000))
    expect([message?.length, lines]).toEqual([1_048_576, 250_000])
  })

  it('that look like events and are none leave the event loop free', async () => {
    let slowest = 0
    let last = performance.now()
    const timer = setInterval(() => {
      slowest = Math.max(slowest, performance.now() - last)
      last = performance.now()
    }, 5)
    const { strangeLines } = await read('codex', '{"}\n'.repeat(200_000))
    clearInterval(timer)
    expect(strangeLines).toBe(200_000)
    expect(slowest).toBeLessThan(1_000)
  })

  it('are told apart wherever a chunk ends', () => {
    const event = '{"type":"turn.completed"}'
    const text = [
      'plain',
      '',
      ` \t${event}`,
      `\0\0${event}`,
      `\u001b[1;32m ${event}\u001b[0m`,
      '\u001b[32mcoloured {text}\u001b[0m',
      `\u001b]0;title\u0007${event}`,
      '{ a: 1 }',
      '{',
      `{ \u001b[32m${event.slice(1)}`,
      'plain {"a":1}\r',
      `${event}\r`,
      '日本語',
      ' ',
    ].join('\n')
    const bytes = Buffer.from(`${text}\nthe end`)
    const split = (size: number) => {
      const taken: string[] = []
      const seen = { lines: 0, notBlank: 0, bytes: 0, last: '' }
      const splitter = new LineSplitter(
        (line, length) => {
          taken.push(line.slice(line.indexOf('{')).replaceAll(/[\r ]|\u001b\[\d*m/g, ''))
          seen.bytes += length
        },
        (passed) => {
          seen.lines += passed.lines
          seen.notBlank += passed.notBlank
          seen.bytes += passed.bytes
          seen.last = passed.last?.toString() ?? seen.last
        },
      )
      for (let from = 0; from < bytes.length; from += size)
        splitter.push(Buffer.from(bytes.subarray(from, from + size)))
      splitter.end()
      return { taken, ...seen }
    }
    const whole = split(bytes.length)
    expect(whole).toEqual({
      taken: [event, event, event, event, event, event],
      lines: 9,
      notBlank: 7,
      bytes: bytes.length,
      last: 'the end',
    })
    for (const size of [5, 7, 11, 64]) {
      const { taken, bytes: all, last } = split(size)
      expect([taken.filter((line) => line === event).length, all, last]).toEqual([6, bytes.length, 'the end'])
    }
  })
})
