import { at, listAt, standInPrompt } from '@codex-thread-bridge/test-fixtures'
import { describe, expect, it } from 'vitest'
import { withJobs } from './support/jobs-host.ts'

// Stand-ins, made from what is written of these two CLIs: the real ones were never run.
const full = { access: 'danger-full-access' }

describe('a stand-in for Forge', () => {
  const output = [
    '\u001b[32m● [12:00:01] Initialize 5f0c1a2b\u001b[0m',
    'The first line.',
    '',
    'The last line. 日本語',
    '● [12:00:09] Finished 5f0c1a2b',
    '',
  ].join('\r\n')

  it('answers with what stands between its marks, and with its conversation', () =>
    withJobs(async (jobs) => {
      const jobId = await jobs.run(standInPrompt({ print: output }), { agent: 'forge', ...full })
      expect(await jobs.ended(jobId)).toMatchObject({
        agent: 'forge',
        outcome: 'success',
        session_id: '5f0c1a2b',
        agentOutput: { message: 'The first line.\n\nThe last line. 日本語' },
      })
      const peeked = await jobs.call('peek', { job_ids: [jobId], after: ['start'] })
      const [process] = listAt(peeked, 'processes')
      expect(listAt(process, 'events').map((event) => at(event, 'text'))).toEqual([
        'The first line.\n\nThe last line. 日本語',
      ])
    }))

  it('has failed without its last mark, whatever its exit code', () =>
    withJobs(async (jobs) => {
      const [begun] = output.split('● [12:00:09]')
      const jobId = await jobs.run(standInPrompt({ print: begun ?? '' }), { agent: 'forge', ...full })
      expect(await jobs.ended(jobId)).toMatchObject({
        outcome: 'error',
        exitCode: 0,
        reason: 'Forge ended without an answer (exit code 0).',
      })
    }))

  it('has failed with a bad exit code', () =>
    withJobs(async (jobs) => {
      const jobId = await jobs.run(standInPrompt({ print: output }, { exit: 2 }), { agent: 'forge', ...full })
      expect(await jobs.ended(jobId)).toMatchObject({
        outcome: 'error',
        reason: 'Forge ended badly (exit code 2).',
      })
    }))
})

describe('a stand-in for Antigravity', () => {
  it('answers with all that it prints but blank lines and warnings', () =>
    withJobs(async (jobs) => {
      const print = 'Warning: an old version\n\nThe answer.\n  More of it.\n'
      const jobId = await jobs.run(standInPrompt({ print }), { agent: 'antigravity', ...full })
      expect(await jobs.ended(jobId)).toMatchObject({
        agent: 'antigravity',
        outcome: 'success',
        session_id: null,
        agentOutput: { message: 'The answer.\n  More of it.' },
      })
    }))

  it('has failed when it prints nothing', () =>
    withJobs(async (jobs) => {
      const jobId = await jobs.run(standInPrompt(), { agent: 'antigravity', ...full })
      expect(await jobs.ended(jobId)).toMatchObject({ outcome: 'error', exitCode: 0 })
    }))
})
