import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { at, listAt } from '@codex-thread-bridge/test-fixtures'
import { expect, it } from 'vitest'
import { codexLines, withJobs, type JobsHost } from './support/jobs-host.ts'

const record = (directory: string, more: object): object => ({
  pid: 123,
  agent: 'codex',
  status: 'completed',
  startTime: '2026-11-30T17:00:00.000Z',
  endTime: '2026-11-30T17:01:00.000Z',
  workFolder: '/somewhere',
  prompt: 'Count the files.',
  model: 'gpt-5.5',
  command: 'codex',
  args: ['exec', 'Count the files.'],
  stdoutPath: join(directory, 'logs', '123.stdout.log'),
  stderrPath: join(directory, 'logs', '123.stderr.log'),
  exitCode: 0,
  ...more,
})

const registry = (directory: string, processes: readonly object[]): string => {
  mkdirSync(join(directory, 'logs'), { recursive: true })
  writeFileSync(join(directory, 'logs', '123.stdout.log'), codexLines('of the other server'))
  const path = join(directory, 'processes.json')
  writeFileSync(path, JSON.stringify({ version: 1, processes }))
  return path
}

const list = async (jobs: JobsHost) => listAt(await jobs.call('list_processes'), 'processes')

it('finished jobs of a reference registry are shown with their output, once, and the registry stays as it is', () =>
  withJobs(async (jobs) => {
    const directory = join(jobs.home, 'registry')
    const path = registry(directory, [
      record(directory, {}),
      record(directory, { pid: 124, status: 'failed', exitCode: 143, stdoutPath: '/nowhere' }),
      record(directory, { pid: 125, status: 'running' }),
      { pid: 'no record' },
    ])
    const before = readFileSync(path)
    const env = { PATH: process.env.PATH, AGENT_BRIDGE_PROCESS_REGISTRY_DIR: directory }
    const other = await jobs.another({ env })
    expect((await list(other)).map((row) => [at(row, 'pid'), at(row, 'status'), at(row, 'outcome')])).toEqual(
      [
        [124, 'failed', 'error'],
        [123, 'completed', 'success'],
      ],
    )
    expect(await other.call('get_result', { pid: 123, verbose: true })).toMatchObject({
      job_id: 'imported-123-1796058000000',
      agentOutput: { message: 'of the other server' },
      session_id: '01a22d75-bbf9-7190-b25e-d569e4870f3e',
      durationMs: 60_000,
      prompt: 'Count the files.',
    })
    expect(await other.call('get_result', { pid: 124 })).toMatchObject({ exitCode: 143, signal: 'SIGTERM' })
    expect(await other.call('cleanup_processes', { delete_logs: true })).toMatchObject({ removed: 2 })
    expect(readFileSync(path)).toEqual(before)
    expect(readFileSync(join(directory, 'logs', '123.stdout.log'), 'utf8')).toBe(
      codexLines('of the other server'),
    )
    await other.close()
    const later = await jobs.another({ env })
    expect(await list(later)).toEqual([])
    await later.close()
  }))

it('the registry in the home directory is found where no other is named', () =>
  withJobs(async (jobs) => {
    const directory = join(jobs.home, '.agent-bridge-mcp')
    registry(directory, [record(directory, {})])
    expect((await list(jobs)).map((row) => at(row, 'pid'))).toEqual([123])
  }))

it('a registry that cannot be read is left alone, and jobs work all the same', () =>
  withJobs(async (jobs) => {
    const directory = join(jobs.home, '.agent-bridge-mcp')
    mkdirSync(directory)
    writeFileSync(join(directory, 'processes.json'), '{"version":1,"processes":[{"pid"')
    expect(await list(jobs)).toEqual([])
    expect(readFileSync(join(directory, 'processes.json'), 'utf8')).toBe('{"version":1,"processes":[{"pid"')
  }))
