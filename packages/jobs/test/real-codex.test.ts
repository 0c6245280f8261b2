import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  at,
  codexBinary,
  createCodexHome,
  NEWEST_CODEX,
  poll,
  startScriptedModel,
  type ScriptedModel,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withJobs, type JobsHost } from './support/jobs-host.ts'
import { jobTree } from '../src/process/job-tree.ts'
import { jobsOfProcesses } from '../src/process/process-table.ts'
import { runs } from './support/processes.ts'

let model: ScriptedModel
let home: ReturnType<typeof createCodexHome>
beforeAll(async () => {
  model = await startScriptedModel()
  home = createCodexHome({ modelUrl: model.url })
})
afterAll(async () => {
  await model.close()
  await home.remove()
})

const withCodex = (act: (jobs: JobsHost) => Promise<void>): Promise<void> =>
  withJobs(act, {
    jobs: {
      env: {
        PATH: process.env.PATH,
        HOME: home.path,
        CODEX_HOME: home.path,
        CODEX_CLI_NAME: codexBinary(NEWEST_CODEX),
      },
    },
  })

const shell = (command: string) => ({ toolCall: { name: 'exec_command', arguments: { cmd: command } } })

describe('a job of the real Codex', () => {
  it('tells its answer, its usage and its session, and goes on with the session', () =>
    withCodex(async (jobs) => {
      model.reply({ text: 'Three files. 日本語 ✓' }, { text: 'As I said.' })
      const jobId = await jobs.run('Count the files.')
      const first = await jobs.ended(jobId)
      expect(first).toMatchObject({
        status: 'completed',
        outcome: 'success',
        exitCode: 0,
        agentOutput: { message: 'Three files. 日本語 ✓' },
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
      })
      const session_id = String(at(first, 'session_id'))
      const second = await jobs.ended(await jobs.run('How many?', { session_id, access: 'read-only' }))
      expect(second).toMatchObject({ outcome: 'success', session_id, agentOutput: { message: 'As I said.' } })
      expect(model.requests.at(-1)?.userTexts).toEqual(['Count the files.', 'How many?'])
    }))

  it('a prompt that looks like an option is a prompt', () =>
    withCodex(async (jobs) => {
      model.reply({ text: 'not a version' })
      expect(await jobs.ended(await jobs.run('--version'))).toMatchObject({
        agentOutput: { message: 'not a version' },
      })
      expect(model.requests.at(-1)?.lastUserText).toContain('--version')
    }))

  it.each([
    ['read-only', false],
    ['workspace-write', true],
  ])('%s is kept, on a resumed session too: files are written: %s', (access, written) =>
    withCodex(async (jobs) => {
      const names = ['fresh', 'resumed'].map((name) => join(jobs.work, name))
      for (const name of names) model.reply(shell(`touch ${name}`), { text: 'done' })
      const first = await jobs.ended(await jobs.run('Touch it.', { access }))
      const session_id = String(at(first, 'session_id'))
      await jobs.ended(await jobs.run('Touch the other.', { access, session_id }))
      expect(names.map((name) => existsSync(name))).toEqual([written, written])
    }),
  )

  it('an error of the model’s server is its error, with the kind', () =>
    withCodex(async (jobs) => {
      model.reply({ status: 401, body: { error: { message: 'bad key' } } })
      const result = await jobs.ended(await jobs.run('Count.'))
      expect(result).toMatchObject({
        status: 'failed',
        outcome: 'error',
        exitCode: 1,
        agentOutput: { error: { kind: 'auth', statusCode: 401 } },
      })
    }))

  it('an unknown session is told as such', () =>
    withCodex(async (jobs) => {
      const session_id = '00000000-0000-0000-0000-000000000000'
      expect(await jobs.ended(await jobs.run('Count.', { session_id }))).toMatchObject({
        outcome: 'error',
        session_id: null,
        agentOutput: { error: { kind: 'session' } },
      })
    }))

  it.each(['workspace-write', 'danger-full-access'])(
    'a kill leaves no process of it alive, its tool under %s included',
    (access) =>
      withCodex(async (jobs) => {
        const ready = join(jobs.work, 'ready')
        model.reply(shell(`touch ${ready}; sleep 300; echo done`))
        const jobId = await jobs.run('Sleep.', { access })
        await poll(() => existsSync(ready), { timeoutMs: 30_000 })
        const pid = Number(at(await jobs.call('get_result', { job_id: jobId }), 'pid'))
        const { members } = await jobTree(await jobs.identity(jobId))
        expect(members.length).toBeGreaterThanOrEqual(3)
        expect(await jobs.call('kill_process', { job_id: jobId })).toMatchObject({
          status: 'failed',
          outcome: 'cancelled',
        })
        expect([pid, ...members.map((member) => member.pid)].filter(runs)).toEqual([])
        expect([...(await jobsOfProcesses()).values()]).not.toContain(jobId)
      }),
  )
})
