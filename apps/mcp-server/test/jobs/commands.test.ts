import { chmodSync, existsSync, mkdirSync, readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { at, poll, standInPrompt } from '@codex-thread-bridge/test-fixtures'
import { expect, it } from 'vitest'
import { runBridge, type RunResult } from '../run-bridge.ts'
import { inJobsPlace, resultOf, startJob, type JobsPlace } from './jobs-bridge.ts'

const line = (event: object): string => `${JSON.stringify(event)}\n`
const said = (text: string): string =>
  line({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text } })
const closing = line({ type: 'turn.completed', usage: {} })

const jobsOf =
  ({ flags, env }: JobsPlace) =>
  (...args: readonly string[]): Promise<RunResult> =>
    runBridge([...flags, 'jobs', ...args], { env })

it('what a job prints cannot control the terminal: show and tail tell it as its code, line by line', () =>
  inJobsPlace(async (place) => {
    const jobs = jobsOf(place)
    const bridge = await place.bridge()
    const tool = line({
      type: 'item.started',
      item: { id: 't', type: 'command_execution', command: 'ls \u001b[2J', status: 'in_progress' },
    })
    const text = 'red\u001b[31m\tand \u009b1m\r\nthe next \u202eline'
    const jobId = await startJob(bridge, place, standInPrompt({ print: tool + said(text) + closing }))
    await bridge.call('wait', { job_ids: [jobId] })
    const shown = 'red\\u{1b}[31m\tand \\u{9b}1m\nthe next \\u{202e}line'
    expect((await jobs('show', jobId)).stdout.endsWith(`\n\n${shown}`)).toBe(true)
    const { stdout } = await jobs('tail', jobId)
    expect(stdout.endsWith(`  ${shown}`)).toBe(true)
    expect(stdout.split('\n')[0]?.endsWith('  [shell started] ls \\u{1b}[2J')).toBe(true)
    expect(at(JSON.parse((await jobs('show', jobId, '--json')).stdout), 'agentOutput.message')).toBe(text)

    const message = { content: [{ type: 'text', text: 'x' }] }
    const claude = line({ type: 'assistant', timestamp: '\u001b[31m', message })
    const other = await startJob(bridge, place, standInPrompt({ print: claude }), { agent: 'claude' })
    await bridge.call('wait', { job_ids: [other] })
    expect((await jobs('tail', other)).stdout).toBe('\\u{1b}[31m  x')
  }))

it('where there are no jobs the commands say so, and make nothing', () =>
  inJobsPlace(async (place) => {
    const nowhere = join(place.work, 'nowhere')
    const jobs = (...args: readonly string[]) =>
      runBridge([...place.flags, '--state-dir', nowhere, 'jobs', ...args], { env: place.env })
    expect(await jobs('list')).toEqual({ code: 0, stdout: 'No jobs.', stderr: '' })
    expect(JSON.parse((await jobs('list', '--json')).stdout)).toEqual({ processes: [], nextCursor: null })
    expect((await jobs('clean')).stdout).toBe('0 jobs were removed.')
    for (const command of ['show', 'tail', 'kill']) {
      const { code, stdout, stderr } = await jobs(command, 'job-x')
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^unknown_job: There is no job with job_id "job-x"\. /)
    }
    expect(readdirSync(place.work)).toEqual([])
    mkdirSync(nowhere)
    chmodSync(nowhere, 0o777)
    const { code, stderr } = await jobs('list')
    expect([code, stderr.split(':')[0], readdirSync(nowhere)]).toEqual([1, 'ledger_not_private', []])
  }))

it('a job with endless unread output is listed, shown and killed, and the commands leave nothing open', () =>
  inJobsPlace(async (place) => {
    const jobs = jobsOf(place)
    const ready = join(place.work, 'ready')
    const first = await place.bridge()
    const jobId = await startJob(first, place, standInPrompt({ touch: ready }, { sleep: 300_000 }))
    await poll(() => existsSync(ready))
    await first.close()
    // A hole in the file: it takes no room, and nobody reads to its end.
    truncateSync(join(place.stateDir, 'jobs', jobId, 'stdout.log'), 1_000_000_000_000)
    const results = [await jobs('list'), await jobs('show', jobId)]
    expect(results.map(({ stdout }) => / running /.test(` ${stdout.replaceAll(/\s+/g, ' ')} `))).toEqual([
      true,
      true,
    ])
    expect(results[1]?.stdout).toMatch(/\nunread +1000000000000 bytes of its output$/)
    results.push(await jobs('kill', jobId), await jobs('show', jobId), await jobs('list'))
    expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(results.map(() => [0, '']))
    expect(results[4]?.stdout).toMatch(/ cancelled +codex /)
    const second = await place.bridge()
    expect(await resultOf(second, jobId)).toMatchObject({ status: 'failed', outcome: 'cancelled' })
  }))
