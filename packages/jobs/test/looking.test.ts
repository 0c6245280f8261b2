import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { at, listAt, poll, standInPrompt } from '@codex-thread-bridge/test-fixtures'
import { describe, expect, it } from 'vitest'
import { openJobStore } from '../src/store/job-store.ts'
import { endedJob } from './support/ended-job.ts'
import { codexLines, withJobs, type JobsHost } from './support/jobs-host.ts'

const message = (text: string): string =>
  `${JSON.stringify({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text } })}\n`
const tool = (state: 'started' | 'completed', command: string): string =>
  `${JSON.stringify({ type: `item.${state}`, item: { id: 't', type: 'command_execution', command, aggregated_output: 'raw output', exit_code: state === 'started' ? null : 0, status: state === 'started' ? 'in_progress' : 'completed' } })}\n`

const file = (jobs: JobsHost, name: string): string => join(jobs.work, name)
const touch = (jobs: JobsHost, name: string): void => writeFileSync(file(jobs, name), '')

describe('wait', () => {
  it('answers with every job, in the order they were first named, duplicates joined, unknown ones told of', () =>
    withJobs(async (jobs) => {
      const [a, b] = [
        await jobs.run(standInPrompt({ print: codexLines('a') })),
        await jobs.run(standInPrompt({ print: codexLines('b') })),
      ]
      const answer = await jobs.call('wait', { job_ids: [b, 'job-unknown', a, b] })
      expect(answer).toMatchObject({ timed_out: false, timeout: 900 })
      expect(listAt(answer, 'results').map((each) => [at(each, 'job_id'), at(each, 'status')])).toEqual([
        [b, 'completed'],
        ['job-unknown', 'not_found'],
        [a, 'completed'],
      ])
    }))

  it('honours a short timeout, and says what to do next', () =>
    withJobs(async (jobs) => {
      const jobId = await jobs.run(standInPrompt({ sleep: 60_000 }))
      const begin = Date.now()
      const answer = await jobs.call('wait', { job_ids: [jobId], timeout: 0.3 })
      expect(Date.now() - begin).toBeLessThan(5_000)
      expect(answer).toMatchObject({
        timed_out: true,
        timeout: 0.3,
        observed_timeout: 0.3,
        next_action: 'wait',
      })
      await expect(
        jobs.call('wait', { job_ids: [jobId], timeout: 0.1, on_timeout: 'throw' }),
      ).rejects.toMatchObject({ code: 'wait_timed_out', next: 'same_request_id' })
      await jobs.call('kill_process', { job_id: jobId })
    }))

  it('observes no longer than the window and the call budget', () =>
    withJobs(
      async (jobs) => {
        const jobId = await jobs.run(standInPrompt({ sleep: 60_000 }))
        expect(await jobs.call('wait', { job_ids: [jobId] })).toMatchObject({ timed_out: true, timeout: 900 })
        await jobs.call('kill_process', { job_id: jobId })
      },
      { host: { limits: { callMs: 1_500 } } },
    ))

  it('mode any ends with the first job', () =>
    withJobs(async (jobs) => {
      const long = await jobs.run(standInPrompt({ sleep: 60_000 }))
      const short = await jobs.run(standInPrompt({ print: codexLines('short') }))
      const answer = await jobs.call('wait', { job_ids: [long, short], mode: 'any' })
      expect(at(answer, 'timed_out')).toBe(false)
      expect(listAt(answer, 'results').map((each) => at(each, 'status'))).toEqual(['running', 'completed'])
      await jobs.call('kill_process', { job_id: long })
    }))

  it('a cancelled wait ends at once', () =>
    withJobs(async (jobs) => {
      const jobId = await jobs.run(standInPrompt({ sleep: 60_000 }))
      const cancel = new AbortController()
      const waiting = jobs.call('wait', { job_ids: [jobId] }, { signal: cancel.signal })
      cancel.abort(new Error('enough'))
      await expect(waiting).rejects.toThrow('enough')
      await jobs.call('kill_process', { job_id: jobId })
    }))

  it('a hundred waits that time out leave nothing behind', () =>
    withJobs(async (jobs) => {
      const warnings: string[] = []
      const warned = (warning: Error): void => void warnings.push(warning.name)
      process.on('warning', warned)
      const jobId = await jobs.run(standInPrompt({ sleep: 60_000 }))
      for (let round = 0; round < 100; round += 1)
        await jobs.call('wait', { job_ids: [jobId], timeout: 0.001 })
      await jobs.call('kill_process', { job_id: jobId })
      process.off('warning', warned)
      expect(warnings).toEqual([])
    }))

  it('sixty-four verbose results fit into one answer', () =>
    withJobs(async (jobs) => {
      const store = await openJobStore(jobs.stateDir)
      const ids = Array.from({ length: 64 }, (_, index) => `job-${index}`)
      for (const jobId of ids)
        store.insert(
          endedJob({
            jobId,
            prompt: 'p'.repeat(4_000),
            status: 'failed',
            outcome: 'error',
            reason: 'r'.repeat(500),
          }),
          1,
        )
      store.close()
      const answer = await jobs.call('wait', { job_ids: ids, verbose: true })
      expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(65_536)
      expect(listAt(answer, 'results').map((each) => at(each, 'job_id'))).toEqual(ids)
    }))

  it('ends soon after the job does', () =>
    withJobs(async (jobs) => {
      const go = file(jobs, 'go')
      const jobId = await jobs.run(standInPrompt({ waitFor: go }, { print: codexLines('done') }))
      const waiting = jobs.call('wait', { job_ids: [jobId] })
      touch(jobs, 'go')
      const answer = await waiting
      const [result] = listAt(answer, 'results')
      expect(result).toMatchObject({ outcome: 'success' })
    }))
})

describe('peek', () => {
  it('tells what was said and done while it looked, without raw tool output', () =>
    withJobs(async (jobs) => {
      const go = file(jobs, 'go')
      const steps = [
        { print: message('before') },
        { touch: file(jobs, 'ready') },
        { waitFor: go },
        { print: message('during') + tool('started', 'ls -l') + tool('completed', 'ls -l') },
      ]
      const jobId = await jobs.run(standInPrompt(...steps))
      await poll(() => existsSync(file(jobs, 'ready')))
      const peeking = jobs.call('peek', { job_ids: [jobId], include_tool_calls: true, peek_time_sec: 30 })
      // Once the peek has told the time of its begin.
      await jobs.call('get_result', { job_id: jobId })
      touch(jobs, 'go')
      const answer = await peeking
      const [process] = listAt(answer, 'processes')
      expect(process).toMatchObject({ job_id: jobId, truncated: false, error: null })
      const events = listAt(process, 'events').map((event) => ({ ...(event as object), ts: '' }))
      expect(events).toEqual([
        { kind: 'message', ts: '', text: 'during' },
        {
          kind: 'tool_call',
          ts: '',
          tool: 'shell',
          phase: 'started',
          summary: 'ls -l',
          id: 't',
          status: 'in_progress',
        },
        {
          kind: 'tool_call',
          ts: '',
          tool: 'shell',
          phase: 'completed',
          summary: 'ls -l',
          id: 't',
          status: 'completed',
          exit_code: 0,
        },
      ])
      expect(JSON.stringify(answer)).not.toContain('raw output')
    }))

  it('misses nothing between two peeks, also over a restart, and tells nothing twice', () =>
    withJobs(async (jobs) => {
      const numbers = Array.from({ length: 300 }, (_, index) => index)
      const steps = numbers.flatMap((index) => [{ print: message(`number ${index}`) }, { sleep: 1 }])
      const jobId = await jobs.run(standInPrompt(...steps))
      const seen: unknown[] = []
      let after = 'start'
      let status: unknown = 'running'
      let host = jobs
      while (status === 'running') {
        const answer = await host.call('peek', { job_ids: [jobId], after: [after], peek_time_sec: 1 })
        const [process] = listAt(answer, 'processes')
        seen.push(...listAt(process, 'events').map((event) => at(event, 'text')))
        after = String(at(process, 'cursor'))
        status = at(process, 'status')
        if (host !== jobs) await host.close()
        host = await jobs.another()
      }
      await host.close()
      expect(seen).toEqual(numbers.map((index) => `number ${index}`))
    }))

  it('goes on with its cursor where an answer was full', () =>
    withJobs(
      async (jobs) => {
        const texts = Array.from({ length: 40 }, (_, index) => `${index} ${'x'.repeat(300)}`)
        const jobId = await jobs.run(standInPrompt({ print: texts.map(message).join('') }))
        await jobs.ended(jobId)
        const seen: unknown[] = []
        let after = 'start'
        let truncated: unknown = true
        while (truncated === true) {
          const answer = await jobs.call('peek', { job_ids: [jobId], after: [after], peek_time_sec: 1 })
          expect(JSON.stringify(answer).length).toBeLessThan(4_096)
          const [process] = listAt(answer, 'processes')
          seen.push(...listAt(process, 'events').map((event) => at(event, 'text')))
          after = String(at(process, 'cursor'))
          truncated = at(process, 'truncated')
        }
        expect(seen).toEqual(texts)
      },
      { host: { limits: { resultBytes: 4_096 } } },
    ))

  it('an unknown job is told as not_found', () =>
    withJobs(async (jobs) => {
      expect(await jobs.call('peek', { pids: [4_222_222] })).toMatchObject({
        processes: [
          {
            pid: 4_222_222,
            status: 'not_found',
            events: [],
            truncated: false,
            cursor: null,
            error: 'not_found',
          },
        ],
      })
    }))
})

describe('get_result', () => {
  it('shows the last complete message while the job runs, also right after the first line', () =>
    withJobs(async (jobs) => {
      const begun = '{"type":"thread.started","thread_id":"01a22d75-bbf9-7190-b25e-d569e4870f3e"}\n'
      const steps = [
        { print: begun },
        { waitFor: file(jobs, 'go') },
        { print: message('one') + message('two').slice(0, 30) },
      ]
      const jobId = await jobs.run(standInPrompt(...steps, { sleep: 60_000 }))
      const result = () => jobs.call('get_result', { job_id: jobId })
      await poll(async () => at(await result(), 'session_id'))
      expect(await result()).toMatchObject({
        status: 'running',
        exitCode: null,
        agentOutput: { message: null },
      })
      touch(jobs, 'go')
      await poll(async () => at(await result(), 'agentOutput.message'))
      expect(await result()).toMatchObject({ agentOutput: { message: 'one' } })
      await jobs.call('kill_process', { job_id: jobId })
    }))

  it('an answer stays within the budget whatever the job printed, and goes on with offset', () =>
    withJobs(
      async (jobs) => {
        const text = '日本語 "✓"\n'.repeat(3_000)
        const jobId = await jobs.run(
          standInPrompt(
            { print: tool('started', 'y'.repeat(3_000)).repeat(50) + message(text) },
            { printError: 'e'.repeat(9_000) },
          ),
        )
        await jobs.ended(jobId)
        const parts: unknown[] = []
        let offset: unknown = 0
        while (offset !== undefined) {
          const answer = await jobs.call('get_result', { job_id: jobId, offset, verbose: offset === 0 })
          expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(16_384)
          parts.push(at(answer, 'agentOutput.message'))
          offset = at(answer, 'nextOffset')
        }
        expect(parts.join('')).toBe(text)
      },
      { host: { limits: { resultBytes: 16_384 } } },
    ))

  it('shows raw output from an offset', () =>
    withJobs(async (jobs) => {
      const jobId = await jobs.run(standInPrompt({ print: 'line one\nline two\n' }, { printError: 'oh' }))
      await jobs.ended(jobId)
      expect(
        await jobs.call('get_result', { job_id: jobId, stream: 'stdout', offset: 9, max_bytes: 200 }),
      ).toMatchObject({
        agentOutput: { message: null, text: 'line two\n' },
        truncated: false,
      })
      expect(await jobs.call('get_result', { job_id: jobId, stream: 'stderr' })).toMatchObject({
        agentOutput: { text: 'oh' },
      })
    }))

  it('verbose tells times, folder, prompt, tools and the end of stderr', () =>
    withJobs(async (jobs) => {
      const prompt = standInPrompt(
        { print: tool('started', 'ls') + tool('completed', 'ls') + codexLines('done') },
        { printError: 'words' },
      )
      const jobId = await jobs.run(prompt, { name: 'counting' })
      await jobs.ended(jobId)
      expect(await jobs.call('get_result', { job_id: jobId, verbose: true })).toMatchObject({
        name: 'counting',
        access: 'workspace-write',
        workFolder: jobs.work,
        prompt,
        tools: [
          { id: 't', tool: 'shell', status: 'completed', input: 'ls', output: 'raw output', exitCode: 0 },
        ],
        stderr: 'words',
        usage: { inputTokens: 10, cachedInputTokens: 4, outputTokens: 3, totalTokens: 13 },
      })
    }))

  it('the result of a large job is read once; the server answers meanwhile', () =>
    withJobs(async (jobs) => {
      const jobId = await jobs.run(
        standInPrompt({ fill: 100_000_000, line: message('x'.repeat(500)) }, { print: codexLines('end') }),
      )
      let slowest = 0
      const looking = setInterval(() => undefined, 5)
      let last = performance.now()
      const timer = setInterval(() => {
        slowest = Math.max(slowest, performance.now() - last)
        last = performance.now()
      }, 5)
      expect(await jobs.ended(jobId)).toMatchObject({ outcome: 'success', agentOutput: { message: 'end' } })
      clearInterval(timer)
      clearInterval(looking)
      const begin = performance.now()
      await jobs.call('get_result', { job_id: jobId })
      expect(performance.now() - begin).toBeLessThan(200)
      expect(slowest).toBeLessThan(1_000)
    }))
})
