import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processFacts } from '@codex-thread-bridge/core/ledger'
import {
  at,
  codexBinary,
  createCodexHome,
  holdReply,
  listAt,
  NEWEST_CODEX,
  poll,
  standInPrompt,
  startScriptedModel,
} from '@codex-thread-bridge/test-fixtures'
import { expect, it } from 'vitest'
import { inJobsPlace, resultOf, startJob } from './jobs-bridge.ts'

const line = (event: object): string => `${JSON.stringify(event)}\n`
const said = (text: string): string =>
  line({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text } })
const closing = line({ type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 2 } })

const runs = (pid: number): boolean => processFacts(pid) !== undefined && processFacts(pid)?.state !== 'Z'

it('a running job goes on when its bridge is killed, and the next one tells all of its output and its outcome', () =>
  inJobsPlace(async (place) => {
    const go = join(place.work, 'go')
    const first = await place.bridge()
    const jobId = await startJob(
      first,
      place,
      standInPrompt({ print: said('before') }, { waitFor: go }, { print: said('after') + closing }),
    )
    await poll(async () => at(await resultOf(first, jobId), 'agentOutput.message') === 'before')
    await first.kill()
    const second = await place.bridge()
    expect(await resultOf(second, jobId)).toMatchObject({
      status: 'running',
      agentOutput: { message: 'before' },
    })
    writeFileSync(go, '')
    const waited = (await second.call('wait', { job_ids: [jobId] })).structured
    expect(listAt(waited, 'results')).toMatchObject([
      { status: 'completed', outcome: 'success', exitCode: 0, agentOutput: { message: 'after' } },
    ])
  }))

it('a job that ends while no bridge runs has its true outcome and exit code, and a quiet one too', () =>
  inJobsPlace(async (place) => {
    const [go, over] = [join(place.work, 'go'), (name: string) => join(place.work, name)]
    const first = await place.bridge()
    const good = await startJob(
      first,
      place,
      standInPrompt({ waitFor: go }, { print: said('all well') + closing }, { touch: over('good') }),
    )
    const bad = await startJob(
      first,
      place,
      standInPrompt({ waitFor: go }, { touch: over('bad') }, { exit: 7 }),
    )
    await first.kill()
    writeFileSync(go, '')
    for (const jobId of [good, bad])
      await poll(() => existsSync(join(place.stateDir, 'jobs', jobId, 'exit')), { what: 'the end of a job' })
    const second = await place.bridge()
    expect(await resultOf(second, good)).toMatchObject({
      status: 'completed',
      outcome: 'success',
      exitCode: 0,
      agentOutput: { message: 'all well' },
    })
    expect(await resultOf(second, bad)).toMatchObject({ status: 'failed', outcome: 'error', exitCode: 7 })
  }))

it('kill_process, peek and list work on a job of an earlier bridge', () =>
  inJobsPlace(async (place) => {
    const first = await place.bridge()
    const pidFile = join(place.work, 'tool')
    const jobId = await startJob(
      first,
      place,
      standInPrompt(
        { print: said('one') },
        { spawnSleep: 300, ownSession: true, pidFile },
        { sleep: 300_000 },
      ),
    )
    const tool = await poll(() => Number(readFileSync(pidFile, 'utf8')) || undefined)
    await first.kill()
    const second = await place.bridge()
    const peeked = await second.call('peek', { job_ids: [jobId], after: ['start'], peek_time_sec: 1 })
    expect(listAt(peeked.structured, 'processes')).toMatchObject([
      { job_id: jobId, status: 'running', events: [{ kind: 'message', text: 'one' }] },
    ])
    const listed = await second.call('list_processes', { status: 'running' })
    expect(listAt(listed.structured, 'processes')).toMatchObject([{ job_id: jobId, status: 'running' }])
    expect((await second.call('kill_process', { job_id: jobId })).structured).toMatchObject({
      status: 'failed',
      outcome: 'cancelled',
    })
    expect(runs(tool)).toBe(false)
  }))

it('timeout_seconds hold over a restart, without a call that asks for the job', () =>
  inJobsPlace(async (place) => {
    const first = await place.bridge()
    const jobId = await startJob(first, place, standInPrompt({ sleep: 300_000 }), { timeout_seconds: 2 })
    await first.kill()
    await place.bridge()
    await poll(() => existsSync(join(place.stateDir, 'jobs', jobId, 'exit')), { timeoutMs: 20_000 })
    const third = await place.bridge()
    expect(await resultOf(third, jobId)).toMatchObject({ status: 'failed', outcome: 'timed_out' })
  }))

it('the same request_id starts no second job after a restart', () =>
  inJobsPlace(async (place) => {
    const prompt = standInPrompt({ print: said('once') + closing })
    const first = await place.bridge()
    const jobId = await startJob(first, place, prompt, { request_id: 'count-1' })
    await first.kill()
    const second = await place.bridge()
    expect(await startJob(second, place, prompt, { request_id: 'count-1' })).toBe(jobId)
    const listed = await second.call('list_processes')
    expect(listAt(listed.structured, 'processes')).toHaveLength(1)
    const receipt = await second.call('get_operation', { request_id: 'count-1' })
    expect(receipt.structured).toMatchObject({
      operation: 'run',
      family: 'jobs',
      status: 'accepted',
      jobId,
      steps: [{ name: 'start', state: 'answered' }],
    })
  }))

it('a job of the real Codex survives the kill of its bridge and reports its true outcome', async () => {
  const model = await startScriptedModel()
  const home = createCodexHome({ modelUrl: model.url })
  const held = holdReply({ then: { text: 'Finished without a bridge.' } })
  model.always(held)
  await inJobsPlace(
    async (place) => {
      const first = await place.bridge()
      const jobId = await startJob(first, place, 'Count the files.')
      await held.waitHeld()
      await first.kill()
      held.release()
      await poll(() => existsSync(join(place.stateDir, 'jobs', jobId, 'exit')), { timeoutMs: 30_000 })
      const second = await place.bridge()
      expect(await resultOf(second, jobId)).toMatchObject({
        status: 'completed',
        outcome: 'success',
        exitCode: 0,
        agentOutput: { message: 'Finished without a bridge.' },
        usage: { totalTokens: 15 },
      })
    },
    { CODEX_HOME: home.path, CODEX_CLI_NAME: codexBinary(NEWEST_CODEX) },
  )
  await model.close()
  await home.remove()
})
