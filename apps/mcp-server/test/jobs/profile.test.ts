import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { at, poll, standInPrompt, startMcpClient } from '@codex-thread-bridge/test-fixtures'
import { expect, it } from 'vitest'
import { mainPath, runBridge } from '../run-bridge.ts'
import { inJobsPlace, resultOf, startJob } from './jobs-bridge.ts'

const line = (event: object): string => `${JSON.stringify(event)}\n`
const answer =
  line({ type: 'thread.started', thread_id: '01a22d75-bbf9-7190-b25e-d569e4870f3e' }) +
  line({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text: 'All counted.' } }) +
  line({ type: 'turn.completed', usage: {} })

it('the profile serves the nine tools and the operations, without an App Server', () =>
  inJobsPlace(async (place) => {
    const bridge = await place.bridge()
    const tools = await bridge.tools()
    expect(tools.map(({ name }) => name)).toEqual([
      'cleanup_processes',
      'doctor',
      'get_capabilities',
      'get_operation',
      'get_result',
      'kill_process',
      'list_operations',
      'list_processes',
      'models',
      'peek',
      'run',
      'wait',
    ])
    expect(tools.find(({ name }) => name === 'run')?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
    })
    const jobId = await startJob(bridge, place, standInPrompt({ print: answer }), { request_id: 'r-1' })
    await bridge.call('wait', { job_ids: [jobId] })
    expect(await resultOf(bridge, jobId)).toMatchObject({ outcome: 'success' })
    expect((await bridge.call('get_operation', { request_id: 'r-1' })).structured).toMatchObject({ jobId })
    expect(bridge.client.getInstructions()).toContain('background jobs')
  }))

it('an error is a tool error with a code, a hint and a next step, and the server lives on', () =>
  inJobsPlace(
    async (place) => {
      const bridge = await place.bridge()
      const missing = await bridge.call('run', { workFolder: place.work, agent: 'codex', prompt: 'x' })
      expect([missing.isError, missing.structured, missing.error]).toEqual([
        true,
        undefined,
        {
          code: 'cli_unavailable',
          message: 'Codex cannot be started: /nowhere/codex does not exist.',
          hint: 'Install it, or set its *_CLI_NAME variable to its absolute path; doctor shows where each CLI was looked for.',
          next: 'same_request_id',
        },
      ])
      expect((await bridge.call('kill_process', { pid: 4_000_000 })).error?.code).toBe('unknown_job')
      expect((await bridge.call('list_processes')).structured).toEqual({ processes: [], nextCursor: null })
    },
    { CODEX_CLI_NAME: '/nowhere/codex' },
  ))

it('wait tells its progress and ends when the client cancels', () =>
  inJobsPlace(async (place) => {
    const bridge = await place.bridge()
    const short = await startJob(bridge, place, standInPrompt({ print: answer }))
    const long = await startJob(bridge, place, standInPrompt({ sleep: 300_000 }))
    const cancel = new AbortController()
    const told: string[] = []
    const waiting = bridge.call(
      'wait',
      { job_ids: [short, long] },
      { signal: cancel.signal, onProgress: ({ message = '' }) => told.push(message) },
    )
    await poll(() => told.length > 0, { timeoutMs: 60_000 })
    expect(told).toEqual([`${short} ended: success; 1 to go`])
    cancel.abort()
    await expect(waiting).rejects.toThrow()
    expect((await bridge.call('kill_process', { job_id: long })).structured).toMatchObject({
      outcome: 'cancelled',
    })
  }))

it('people list, show, tail, kill and clean jobs, plain and as JSON', () =>
  inJobsPlace(async (place) => {
    const jobs = (...args: readonly string[]) =>
      runBridge([...place.flags, 'jobs', ...args], { env: place.env })
    const bridge = await place.bridge()
    const jobId = await startJob(bridge, place, standInPrompt({ print: answer }), { name: 'counting' })
    await bridge.call('wait', { job_ids: [jobId] })
    const listed = await jobs('list')
    expect(listed.code).toBe(0)
    expect(listed.stdout).toMatch(new RegExp(`success +codex +\\d+ +${jobId} +counting`))
    const shown = await jobs('show', jobId)
    expect(shown.stdout).toMatch(/status +completed \(success\)/)
    expect(shown.stdout).toMatch(/\n\nAll counted\.$/)
    const json: unknown = JSON.parse((await jobs('show', jobId, '--json')).stdout)
    expect(at(json, 'agentOutput.message')).toBe('All counted.')
    expect((await jobs('tail', jobId)).stdout).toMatch(/ {2}All counted\.$/)
    const running = await startJob(bridge, place, standInPrompt({ sleep: 300_000 }))
    expect((await jobs('kill', running)).stdout).toMatch(
      /^failed: No process lives any more in its process group( or|,) below its main process/,
    )
    expect((await jobs('clean', '--delete-logs')).stdout).toBe('2 jobs were removed.')
    expect((await jobs('list')).stdout).toBe('No jobs.')
    expect(await jobs('show', jobId)).toMatchObject({ code: 1, stdout: '' })
    expect(await jobs('tail', jobId)).toMatchObject({ code: 1, stdout: '' })
    expect(await jobs('list', '--limit', 'many')).toMatchObject({ code: 2, stdout: '' })
    expect((await jobs('vanish')).stderr).toContain("unknown command 'jobs vanish'")
  }))

it('tail --follow goes on until the job has ended', () =>
  inJobsPlace(async (place) => {
    const bridge = await place.bridge()
    const jobId = await startJob(bridge, place, standInPrompt({ sleep: 500 }, { print: answer }))
    const { code, stdout } = await runBridge([...place.flags, 'jobs', 'tail', '--follow', '--json', jobId], {
      env: place.env,
    })
    expect([code, stdout.split('\n').map((text) => at(JSON.parse(text), 'text'))]).toEqual([
      0,
      ['All counted.'],
    ])
  }))

it('the operator’s options reach the jobs', () =>
  inJobsPlace(async (place) => {
    const flags = [
      ...place.flags,
      '--jobs-agent',
      'claude',
      '--jobs-access',
      'read-only',
      '--jobs-env',
      'EXTRA',
    ]
    const bridge = await startMcpClient({
      command: process.execPath,
      args: [mainPath, ...flags],
      env: { ...place.env, EXTRA: 'seen', HIDDEN: 'x' },
    })
    const told = join(place.work, 'told.json')
    const started = await bridge.call('run', {
      workFolder: place.work,
      prompt: standInPrompt({ tellTo: told }),
    })
    expect(started.structured).toMatchObject({ agent: 'claude', access: 'read-only', status: 'started' })
    await bridge.call('wait', { job_ids: [at(started.structured, 'job_id')] })
    const found: unknown = JSON.parse(readFileSync(told, 'utf8'))
    expect(at(found, 'args')).toContain('plan')
    expect([at(found, 'env.EXTRA'), at(found, 'env.HIDDEN')]).toEqual(['seen', undefined])
    await bridge.close()
  }))
