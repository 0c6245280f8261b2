import { processOwner, type Receipt } from '@codex-thread-bridge/core/ledger'
import { memoryLedger } from '@codex-thread-bridge/core/testing'
import { expect, it } from 'vitest'
import { openJobStore } from '../src/store/job-store.ts'
import { endedJob } from './support/ended-job.ts'
import { withJobs } from './support/jobs-host.ts'

/** A receipt whose bridge died after it had written down that it starts a job. */
const interrupted = (requestId: string): Receipt => ({
  requestId,
  operation: 'run',
  family: 'jobs',
  status: 'in_progress_or_unknown',
  startedAt: 1,
  updatedAt: 1,
  retrySafe: false,
  next: 'reconcile',
  fingerprintVersion: 3,
  owner: { pid: 4_000_003, startTime: '1', bootId: processOwner().bootId },
  steps: [{ name: 'start', state: 'intended', at: 1 }],
})

const ledger = memoryLedger()
for (const requestId of ['started', 'not-started'])
  ledger.claim({ fingerprint: '', receipt: interrupted(requestId) })

it('a start whose bridge died is found among the jobs, without an App Server', () =>
  withJobs(
    async ({ host, stateDir }) => {
      const store = await openJobStore(stateDir)
      store.insert(endedJob({ jobId: 'job-found', requestId: 'started', pid: 77 }), 1)
      store.close()
      expect(await host.operations.get('started')).toMatchObject({
        status: 'outcome_unknown',
        next: 'reconcile',
      })
      expect(await host.operations.reconcile('started')).toMatchObject({
        status: 'accepted',
        next: 'none',
        jobId: 'job-found',
        pid: 77,
        reconciliation: { verdict: 'created' },
      })
    },
    { host: { ledger } },
  ))

it('a start that left no job was none: a new request_id may start it', () =>
  withJobs(
    async ({ host }) => {
      expect(await host.operations.reconcile('not-started')).toMatchObject({
        status: 'failed',
        next: 'new_request_id',
        error: { code: 'not_sent', message: 'Nothing was started.' },
        reconciliation: { verdict: 'not_started' },
      })
    },
    { host: { ledger } },
  ))
