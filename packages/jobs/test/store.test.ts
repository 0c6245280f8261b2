import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processOwner } from '@codex-thread-bridge/core/ledger'
import { at, listAt, poll, standInPrompt } from '@codex-thread-bridge/test-fixtures'
import { expect, it } from 'vitest'
import { jobFiles, makeJobDirectory } from '../src/process/job-files.ts'
import { startJob } from '../src/process/start-job.ts'
import { openJobStore } from '../src/store/job-store.ts'
import { endedJob } from './support/ended-job.ts'
import { codexLines, withJobs } from './support/jobs-host.ts'

it('a pid that belongs to another process now makes no job run', () =>
  withJobs(async (jobs) => {
    const store = await openJobStore(jobs.stateDir)
    const { bootId } = processOwner()
    const dead = { status: 'running', outcome: null, exitCode: null, endedAt: null, bootId } as const
    store.insert(endedJob({ ...dead, jobId: 'job-init', pid: 1, startTime: '12345' }), 10)
    store.insert(endedJob({ ...dead, jobId: 'job-us', pid: process.pid, startTime: '1' }), 10)
    store.close()
    for (const jobId of ['job-init', 'job-us'])
      expect(await jobs.call('get_result', { job_id: jobId })).toMatchObject({
        status: 'failed',
        outcome: 'lost',
        exitCode: null,
        reason: 'It ended without leaving an exit status.',
      })
    expect(at(await jobs.call('cleanup_processes'), 'removed')).toBe(2)
  }))

it('a job of an earlier boot is lost, and its output is kept', () =>
  withJobs(async (jobs) => {
    const store = await openJobStore(jobs.stateDir)
    const running = { status: 'running', outcome: null, exitCode: null, endedAt: null } as const
    const { pid, startTime } = processOwner()
    store.insert(endedJob({ ...running, jobId: 'job-boot', pid, startTime, bootId: 'an earlier boot' }), 10)
    store.close()
    mkdirSync(join(jobs.stateDir, 'jobs', 'job-boot'), { recursive: true, mode: 0o700 })
    const [begun] = codexLines('half way').split('{"type":"turn.completed"')
    writeFileSync(join(jobs.stateDir, 'jobs', 'job-boot', 'stdout.log'), begun ?? '')
    expect(await jobs.call('get_result', { job_id: 'job-boot' })).toMatchObject({
      status: 'failed',
      outcome: 'lost',
      reason: 'The host was restarted while it ran.',
      agentOutput: { message: 'half way' },
    })
  }))

it('a job whose bridge ended before it could start the process is lost, not running', () =>
  withJobs(async (jobs) => {
    const store = await openJobStore(jobs.stateDir)
    const { bootId } = processOwner()
    const starter = JSON.stringify({ pid: 4_000_001, startTime: '1', bootId })
    store.insert(
      endedJob({
        jobId: 'job-never',
        status: 'running',
        outcome: null,
        endedAt: null,
        pid: null,
        startTime: null,
        bootId,
        starter,
      }),
      10,
    )
    store.close()
    expect(await jobs.call('get_result', { job_id: 'job-never' })).toMatchObject({
      outcome: 'lost',
      reason: 'The bridge ended before it had started the process.',
    })
  }))

it('a pid means its newest job, and a job inherits nothing of an older one with its pid', () =>
  withJobs(async (jobs) => {
    const store = await openJobStore(jobs.stateDir)
    store.insert(endedJob({ jobId: 'job-old', pid: 4_000_002, status: 'completed' }), 10)
    store.insert(
      endedJob({ jobId: 'job-new', pid: 4_000_002, status: 'failed', outcome: 'error', exitCode: 3 }),
      10,
    )
    store.close()
    mkdirSync(join(jobs.stateDir, 'jobs', 'job-old'), { recursive: true, mode: 0o700 })
    writeFileSync(join(jobs.stateDir, 'jobs', 'job-old', 'stdout.log'), codexLines('of the older job'))
    expect(await jobs.call('get_result', { pid: 4_000_002 })).toMatchObject({
      job_id: 'job-new',
      exitCode: 3,
      agentOutput: { message: null },
    })
  }))

it('sixty jobs of two servers on one store are all kept, with their outcome', () =>
  withJobs(
    async (jobs) => {
      const second = await jobs.another()
      const started = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          (index % 2 === 0 ? jobs : second).run(standInPrompt({ print: codexLines(`job ${index}`) })),
        ),
      )
      expect(new Set(started).size).toBe(60)
      for (const jobId of started) await second.ended(jobId)
      const all = await jobs.call('list_processes', { limit: 100 })
      const statuses = listAt(all, 'processes').map((row) => at(row, 'status'))
      expect([statuses.length, new Set(statuses)]).toEqual([60, new Set(['completed'])])
      await second.close()
    },
    { jobs: { maxRunning: 100 } },
  ))

it('a damaged store is told of and left as it is', () =>
  withJobs(async (jobs) => {
    const path = join(jobs.stateDir, 'jobs.sqlite3')
    writeFileSync(path, 'this is no database, but it is long enough to be looked at as one'.repeat(20), {
      mode: 0o600,
    })
    const before = readFileSync(path)
    await expect(jobs.call('list_processes')).rejects.toMatchObject({ code: 'ledger_corrupt' })
    await expect(jobs.run('anything')).rejects.toMatchObject({ code: 'ledger_corrupt' })
    expect(readFileSync(path)).toEqual(before)
  }))

it('a store of a newer bridge is not touched', () =>
  withJobs(async (jobs) => {
    ;(await openJobStore(jobs.stateDir)).close()
    const { default: Database } = await import('better-sqlite3')
    const db = new Database(join(jobs.stateDir, 'jobs.sqlite3'))
    db.pragma('user_version = 99')
    db.close()
    await expect(jobs.call('list_processes')).rejects.toMatchObject({ code: 'ledger_newer' })
  }))

it('a state directory that others can look into is refused', () =>
  withJobs(async (jobs) => {
    chmodSync(jobs.stateDir, 0o755)
    await expect(jobs.run('anything')).rejects.toMatchObject({ code: 'ledger_not_private' })
    chmodSync(jobs.stateDir, 0o700)
  }))

it('every file of the jobs is for this user alone', () =>
  withJobs(async (jobs) => {
    const jobId = await jobs.run(standInPrompt({ print: codexLines('done') }))
    await jobs.ended(jobId)
    const modes = readdirSync(jobs.stateDir, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [entry.isDirectory() ? '0700' : '0600', `0${(statSync(path).mode & 0o777).toString(8)}`]
    })
    expect(modes.length).toBeGreaterThan(6)
    for (const [wanted, found] of modes) expect(found).toBe(wanted)
  }))

it('clean-up forgets what has ended, deletes files only when asked, and spares what runs', () =>
  withJobs(async (jobs) => {
    const running = await jobs.run(standInPrompt({ sleep: 60_000 }))
    const kept = await jobs.run(standInPrompt({ print: codexLines('kept') }))
    await jobs.ended(kept)
    const first = await jobs.call('cleanup_processes', { status: 'completed' })
    expect(first).toMatchObject({ removed: 1, removedJobIds: [kept], freedBytes: 0 })
    expect(statSync(join(jobs.stateDir, 'jobs', kept)).isDirectory()).toBe(true)
    const deleted = await jobs.run(standInPrompt({ print: codexLines('deleted') }))
    await jobs.ended(deleted)
    const second = await jobs.call('cleanup_processes', { delete_logs: true })
    expect(second).toMatchObject({ removed: 1, removedJobIds: [deleted] })
    expect(Number(at(second, 'freedBytes'))).toBeGreaterThan(100)
    expect(() => statSync(join(jobs.stateDir, 'jobs', deleted))).toThrow()
    expect(await jobs.call('cleanup_processes', { older_than_hours: 1 })).toMatchObject({ removed: 0 })
    await expect(jobs.call('get_result', { job_id: kept })).rejects.toMatchObject({ code: 'unknown_job' })
    expect(await jobs.call('get_result', { job_id: running })).toMatchObject({ status: 'running' })
    await jobs.call('kill_process', { job_id: running })
  }))

it('lists show times, go on with a cursor, and show no prompts', () =>
  withJobs(async (jobs) => {
    const store = await openJobStore(jobs.stateDir)
    for (let index = 0; index < 120; index += 1)
      store.insert(
        endedJob({ jobId: `job-${index}`, createdAt: 1_000 + Math.floor(index / 3), prompt: 'a secret' }),
        1,
      )
    store.close()
    const seen: unknown[] = []
    let cursor: unknown
    do {
      const page = await jobs.call('list_processes', {
        limit: 50,
        ...(cursor === undefined ? {} : { cursor }),
      })
      expect(JSON.stringify(page)).not.toContain('secret')
      seen.push(...listAt(page, 'processes').map((row) => at(row, 'job_id')))
      cursor = at(page, 'nextCursor')
    } while (cursor !== null)
    expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => `job-${119 - index}`))
    const [first] = listAt(await jobs.call('list_processes', { limit: 1 }), 'processes')
    expect(first).toMatchObject({
      startTime: '1970-01-01T00:17:19.000Z',
      endTime: '1970-01-01T00:16:41.000Z',
    })
    await expect(jobs.call('list_processes', { cursor: '12' })).rejects.toMatchObject({
      code: 'invalid_cursor',
    })
  }))

it('a job whose bridge ended right after the start is found by what its wrapper left', () =>
  withJobs(async (jobs) => {
    const store = await openJobStore(jobs.stateDir)
    const { bootId } = processOwner()
    const starter = JSON.stringify({ pid: 4_000_001, startTime: '1', bootId })
    const running = {
      status: 'running',
      outcome: null,
      endedAt: null,
      startTime: null,
      bootId,
      starter,
    } as const
    const jobId = 'job-orphan'
    store.insert(endedJob({ ...running, jobId, pid: null }), 10)
    store.close()
    const files = jobFiles(jobs.stateDir, jobId)
    makeJobDirectory(jobs.stateDir, files)
    const { pid } = await startJob({
      jobId,
      files,
      command: jobs.standIn,
      args: [],
      cwd: jobs.work,
      env: { PATH: process.env.PATH ?? '' },
      prompt: standInPrompt({ print: codexLines('found') }, { waitFor: join(jobs.work, 'go') }),
    })
    await poll(() => existsSync(files.pid))
    expect(await jobs.call('get_result', { job_id: jobId })).toMatchObject({ status: 'running' })
    expect(await jobs.call('get_result', { pid })).toMatchObject({ job_id: jobId })
    writeFileSync(join(jobs.work, 'go'), '')
    expect(await jobs.ended(jobId)).toMatchObject({ outcome: 'success', agentOutput: { message: 'found' } })
  }))

it('a job that somebody began to end and could not is ended by the next server', () =>
  withJobs(async (jobs) => {
    const jobId = await jobs.run(standInPrompt({ sleep: 60_000 }))
    const store = await openJobStore(jobs.stateDir)
    store.requestStop(jobId, 'cancelled', Date.now() / 1_000 - 3_600)
    store.close()
    expect(await jobs.ended(jobId)).toMatchObject({ status: 'failed', outcome: 'cancelled' })
  }))
