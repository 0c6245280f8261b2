import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { at, standInPrompt } from '@codex-thread-bridge/test-fixtures'
import { openCeiling } from '@codex-thread-bridge/core/policy'
import { describe, expect, it } from 'vitest'
import { withJobs, type JobsHost } from './support/jobs-host.ts'

const session = '01a22d75-bbf9-7190-b25e-d569e4870f3e'

/** Arguments and environment that a CLI gets. */
const toldBy = async (jobs: JobsHost, args: object) => {
  const told = join(jobs.work, 'told.json')
  await jobs.ended(await jobs.run(standInPrompt({ tellTo: told }), args))
  const found: unknown = JSON.parse(readFileSync(told, 'utf8'))
  return { args: at(found, 'args'), env: at(found, 'env'), cwd: at(found, 'cwd') }
}

describe('what a CLI is started with, access limited unless more is asked for', () => {
  const workspace = [
    'network_access=false',
    'writable_roots=[]',
    'exclude_tmpdir_env_var=false',
    'exclude_slash_tmp=false',
  ].flatMap((setting) => ['-c', `sandbox_workspace_write.${setting}`])
  it.each([
    [
      'codex',
      {},
      ['exec', '--json', '--skip-git-repo-check', '--sandbox', 'workspace-write', ...workspace, '-'],
    ],
    [
      'codex',
      { access: 'read-only', model: 'codex-ultra', session_id: session },
      [
        'exec',
        '--json',
        '--skip-git-repo-check',
        '--sandbox',
        'read-only',
        '-c',
        'model_reasoning_effort="xhigh"',
        '--model',
        'gpt-5.5',
        'resume',
        session,
        '-',
      ],
    ],
    [
      'codex',
      { access: 'danger-full-access' },
      ['exec', '--json', '--skip-git-repo-check', '--sandbox', 'danger-full-access', '-'],
    ],
    ['claude', {}, ['-p', '--output-format', 'stream-json', '--verbose', '--permission-mode', 'acceptEdits']],
    [
      'claude',
      { access: 'read-only', model: 'claude-ultra', session_id: session },
      [
        '-p',
        '--output-format',
        'stream-json',
        '--verbose',
        '--permission-mode',
        'plan',
        '--disallowedTools',
        'Bash,Edit,Write,NotebookEdit,WebFetch,WebSearch',
        '--strict-mcp-config',
        '--model',
        'opus',
        '--effort',
        'max',
        '-r',
        session,
        '--fork-session',
      ],
    ],
    [
      'claude',
      { access: 'danger-full-access' },
      ['-p', '--output-format', 'stream-json', '--verbose', '--permission-mode', 'bypassPermissions'],
    ],
    ['opencode', {}, ['run', '--format', 'json', '--dir', 'WORK']],
    [
      'opencode',
      { access: 'danger-full-access', model: 'oc-mock/mock-model', session_id: 'ses_1a' },
      [
        'run',
        '--format',
        'json',
        '--dir',
        'WORK',
        '--auto',
        '--model',
        'mock/mock-model',
        '--session',
        'ses_1a',
      ],
    ],
    [
      'forge',
      { access: 'danger-full-access', session_id: 'abc' },
      ['-C', 'WORK', '--conversation-id', 'abc'],
    ],
    [
      'antigravity',
      { access: 'danger-full-access', timeout_seconds: 90 },
      ['--dangerously-skip-permissions', '--add-dir', 'WORK', '--print-timeout', '90s', '--print'],
    ],
  ] as const)('%s %j', (agent, args, expected) =>
    withJobs(async (jobs) => {
      const told = await toldBy(jobs, { agent, ...args })
      expect(told.args).toEqual(expected.map((arg) => (arg === 'WORK' ? jobs.work : arg)))
      expect(told.cwd).toBe(jobs.work)
    }),
  )
})

it.each([
  ['read-only', 'deny'],
  ['workspace-write', 'allow'],
])('opencode gets the permissions of %s, whatever its configuration lets it do', (access, edit) =>
  withJobs(async (jobs) => {
    const { env } = await toldBy(jobs, { agent: 'opencode', access })
    expect(JSON.parse(String(at(env, 'OPENCODE_PERMISSION')))).toEqual({
      edit,
      bash: 'deny',
      webfetch: 'deny',
      websearch: 'deny',
      external_directory: 'deny',
    })
  }),
)

it('a CLI gets an allow-listed environment, its own variables, and those that the operator adds', () =>
  withJobs(async (jobs) => {
    const env = {
      PATH: process.env.PATH,
      HOME: jobs.home,
      LANG: 'C.UTF-8',
      https_proxy: 'http://127.0.0.1:1',
      SECRET_TOKEN: 'x',
      ADDED: 'y',
      OPENAI_API_KEY: 'k',
      ANTHROPIC_API_KEY: 'not for codex',
      CODEX_THREAD_BRIDGE_LOG_LEVEL: 'debug',
      CODEX_CLI_NAME: jobs.standIn,
    }
    const other = await jobs.another({ env, addedVariables: ['ADDED'] })
    const told = await toldBy(other, {})
    await other.close()
    const names = Object.keys(told.env as object).filter(
      (name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name),
    )
    expect(names.sort()).toEqual(
      ['ADDED', 'CTB_JOB_ID', 'HOME', 'LANG', 'OPENAI_API_KEY', 'PATH', 'https_proxy'].sort(),
    )
  }))

it.each([
  [
    'forge',
    {},
    'Forge has no limits that could be set: it runs with full access only; the job was to have workspace-write.',
  ],
  [
    'antigravity',
    { access: 'read-only' },
    'Antigravity has no limits that could be set: it runs with full access only; the job was to have read-only.',
  ],
] as const)('%s without full access is refused, and the error says why', (agent, args, message) =>
  withJobs(async (jobs) => {
    await expect(jobs.run('x', { agent, ...args })).rejects.toMatchObject({
      code: 'access_unavailable',
      message,
    })
  }),
)

it('claude with full access is refused as root, where it would refuse every job, and started as another user', async () => {
  const full = { agent: 'claude', access: 'danger-full-access' }
  await withJobs(
    (jobs) => expect(jobs.run('x', full)).rejects.toMatchObject({ code: 'access_unavailable' }),
    {
      jobs: { isRoot: true },
    },
  )
  await withJobs(async (jobs) => void (await jobs.ended(await jobs.run(standInPrompt(), full))))
})

describe('the operator’s ceiling holds for jobs, before anything is looked at', () => {
  const ceiling = (more: object) => ({ host: { policy: { ceiling: { ...openCeiling, ...more } } } })

  it('--max-sandbox', () =>
    withJobs(
      (jobs) => expect(jobs.run('x')).rejects.toMatchObject({ code: 'ceiling_exceeded', next: 'fix_call' }),
      ceiling({ maxSandbox: 'read-only' }),
    ))

  it('--allow-root', () =>
    withJobs(
      (jobs) =>
        expect(
          jobs.call('run', { workFolder: jobs.work, agent: 'codex', prompt_file: 'missing' }),
        ).rejects.toMatchObject({ code: 'ceiling_exceeded' }),
      ceiling({ allowRoots: ['/elsewhere'] }),
    ))

  it('--allow-root does not judge a relative path: it must be absolute', () =>
    withJobs(
      (jobs) =>
        expect(jobs.call('run', { workFolder: 'work', agent: 'codex', prompt: 'x' })).rejects.toMatchObject({
          code: 'invalid_cwd',
          field: 'workFolder',
          message: '`workFolder` must be an absolute path: work',
        }),
      ceiling({ allowRoots: ['/elsewhere'] }),
    ))

  it('--no-network: no full access', () =>
    withJobs(
      (jobs) =>
        expect(jobs.run('x', { access: 'danger-full-access' })).rejects.toMatchObject({
          code: 'ceiling_exceeded',
        }),
      ceiling({ network: false }),
    ))

  it('an agent starts no job with wider access than its own', () =>
    withJobs(async (jobs) => {
      const run = (access: string) =>
        jobs.call(
          'run',
          { workFolder: jobs.work, agent: 'codex', prompt: standInPrompt(), access },
          { caller: { threadId: 't', sandbox: 'read-only' } },
        )
      await expect(run('workspace-write')).rejects.toMatchObject({ code: 'escalation_refused' })
      await jobs.ended(String(at(await run('read-only'), 'job_id')))
    }))
})
