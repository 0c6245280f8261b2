import { standInPrompt } from '@codex-thread-bridge/test-fixtures'
import { expect, it } from 'vitest'
import { codexLines, withJobs } from './support/jobs-host.ts'

it('runs a CLI in the background and tells its result', () =>
  withJobs(async (jobs) => {
    const jobId = await jobs.run(standInPrompt({ print: codexLines('All counted.') }))
    expect(await jobs.ended(jobId)).toMatchObject({
      job_id: jobId,
      agent: 'codex',
      status: 'completed',
      outcome: 'success',
      exitCode: 0,
      signal: null,
      session_id: '01a22d75-bbf9-7190-b25e-d569e4870f3e',
      agentOutput: { message: 'All counted.' },
      truncated: false,
    })
  }))
