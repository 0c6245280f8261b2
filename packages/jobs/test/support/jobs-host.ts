import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Caller } from '@codex-thread-bridge/core/contract'
import { createHost, type Host, type HostOptions } from '@codex-thread-bridge/core/host'
import { cannedAppServer, memoryLedger } from '@codex-thread-bridge/core/testing'
import { at, tempDir, writeStandIn, type TempDir } from '@codex-thread-bridge/test-fixtures'
import { createJobsPlugin, jobsDefaults, type JobsOptions } from '@codex-thread-bridge/jobs'
import { openJobStore } from '../../src/store/job-store.ts'

/** A host with the jobs tools and stand-ins in place of all CLIs. */
export interface JobsHost {
  readonly host: Host
  readonly stateDir: string
  readonly work: string
  readonly home: string
  readonly standIn: string
  call(name: string, args?: object, options?: { signal?: AbortSignal; caller?: Caller }): Promise<unknown>
  /** Starts a job on the stand-in of codex; its job_id. */
  run(prompt: string, more?: object): Promise<string>
  /** get_result once the job has ended. */
  ended(jobId: string): Promise<unknown>
  /** Which process the job's wrapper is. */
  identity(jobId: string): Promise<{ jobId: string; pid: number | null; startTime: string | null }>
  /** Another host on the same state, as a further server process would be. */
  another(options?: Partial<JobsOptions>): Promise<JobsHost>
  close(): Promise<void>
}

export interface Setup {
  readonly jobs?: Partial<JobsOptions>
  readonly host?: Partial<HostOptions>
}

const start = async (root: TempDir, { jobs = {}, host: hostOptions = {} }: Setup): Promise<JobsHost> => {
  const [stateDir, work, home] = ['state', 'work', 'home'].map((name) => join(root.path, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [stateDir, work, home]) mkdirSync(path, { recursive: true, mode: 0o700 })
  const standIn = writeStandIn(root.path, 'stand-in')
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    CODEX_CLI_NAME: standIn,
    CLAUDE_CLI_NAME: standIn,
    OPENCODE_CLI_NAME: standIn,
    FORGE_CLI_NAME: standIn,
    ANTIGRAVITY_CLI_NAME: standIn,
  }
  const options: JobsOptions = { ...jobsDefaults, stateDir, env, homedir: home, isRoot: false, ...jobs }
  const host = createHost({ appServer: cannedAppServer({}), ledger: memoryLedger(), ...hostOptions })
  host.register(createJobsPlugin(options))
  await host.ready()
  const call: JobsHost['call'] = (name, args = {}, callOptions = {}) => host.call(name, args, callOptions)
  return {
    host,
    stateDir,
    work,
    home,
    standIn,
    call,
    run: async (prompt, more = {}) =>
      String(at(await call('run', { workFolder: work, agent: 'codex', prompt, ...more }), 'job_id')),
    ended: async (jobId) => {
      await call('wait', { job_ids: [jobId] })
      return call('get_result', { job_id: jobId })
    },
    identity: async (jobId) => {
      const store = await openJobStore(stateDir)
      const job = store.get(jobId)
      store.close()
      return { jobId, pid: job?.pid ?? null, startTime: job?.startTime ?? null }
    },
    another: (more = {}) => start(root, { jobs: { ...jobs, ...more }, host: hostOptions }),
    close: () => host.close(),
  }
}

/** Runs an act with a jobs host of its own; everything is removed afterwards. */
export const withJobs = async <T>(act: (jobs: JobsHost) => Promise<T>, setup: Setup = {}): Promise<T> => {
  const root = tempDir('jb')
  const jobs = await start(root, setup)
  try {
    return await act(jobs)
  } finally {
    await jobs.close()
    await root.remove()
  }
}

/** What a codex prints that answers with one message. */
export const codexLines = (message: string): string =>
  [
    { type: 'thread.started', thread_id: '01a22d75-bbf9-7190-b25e-d569e4870f3e' },
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: message } },
    { type: 'turn.completed', usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 3 } },
  ]
    .map((event) => `${JSON.stringify(event)}\n`)
    .join('')
