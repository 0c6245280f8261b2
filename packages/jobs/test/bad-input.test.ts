import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BridgeError } from '@codex-thread-bridge/core/contract'
import { at, poll, standInPrompt, tempDir } from '@codex-thread-bridge/test-fixtures'
import { describe, expect, it } from 'vitest'
import { codexLines, withJobs, type JobsHost } from './support/jobs-host.ts'

/** The error of a run that must start nothing; the server answers afterwards as before. */
const refused = async (jobs: JobsHost, args: object) => {
  const before = startedJobs(jobs)
  const error: unknown = await jobs.call('run', { workFolder: jobs.work, agent: 'codex', ...args }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(startedJobs(jobs)).toEqual(before)
  expect(await jobs.call('list_processes')).toEqual({ processes: [], nextCursor: null })
  if (!BridgeError.is(error)) throw new Error(`not refused: ${String(error)}`)
  return { code: error.code, field: error.field, message: error.message, next: error.next }
}

const startedJobs = ({ stateDir }: JobsHost): readonly string[] => {
  try {
    return readdirSync(join(stateDir, 'jobs'))
  } catch {
    return []
  }
}

describe('a CLI that cannot be started is a tool error, and the server lives on', () => {
  const withCli = (
    name: string,
    act: (jobs: JobsHost) => Promise<void>,
    prepare: (home: string) => void = () => undefined,
  ) => {
    const home = tempDir('jh')
    prepare(home.path)
    const env = { PATH: process.env.PATH, CODEX_CLI_NAME: name.replace('~', home.path) }
    return withJobs(act, { jobs: { env, homedir: home.path } }).finally(() => home.remove())
  }

  it('missing, by its absolute path', () =>
    withCli('/nowhere/codex', async (jobs) => {
      expect(await refused(jobs, { prompt: 'x' })).toEqual({
        code: 'cli_unavailable',
        field: undefined,
        message: 'Codex cannot be started: /nowhere/codex does not exist.',
        next: 'same_request_id',
      })
    }))

  it('missing in PATH', () =>
    withCli('no-such-codex', async (jobs) => {
      expect((await refused(jobs, { prompt: 'x' })).message).toBe(
        'Codex cannot be started: no executable no-such-codex is in PATH.',
      )
    }))

  it('a directory', () =>
    withCli('~', async (jobs) => {
      expect((await refused(jobs, { prompt: 'x' })).message).toMatch(/is a directory\.$/)
    }))

  it('a relative path', () =>
    withCli('./bin/codex', async (jobs) => {
      expect((await refused(jobs, { prompt: 'x' })).message).toBe(
        'Codex cannot be started: CODEX_CLI_NAME must be a name or an absolute path, not the relative path ./bin/codex.',
      )
    }))

  it('a file that is not executable', () =>
    withCli(
      '~/codex',
      async (jobs) => {
        expect((await refused(jobs, { prompt: 'x' })).message).toMatch(/codex is not executable\.$/)
      },
      (home) => {
        writeFileSync(join(home, 'codex'), 'text')
        chmodSync(join(home, 'codex'), 0o644)
      },
    ))

  it('none installed and none named', () =>
    withJobs(
      async (jobs) => {
        expect(await refused(jobs, { agent: null, prompt: 'x' })).toMatchObject({
          code: 'cli_unavailable',
          message: 'None of claude, codex and opencode is installed here.',
        })
      },
      { jobs: { env: { PATH: '/nowhere' }, homedir: '/nowhere' } },
    ))

  it('a file that the system cannot run is a job that ended, with the words of the shell’s exit code', () =>
    withCli(
      '~/codex',
      async (jobs) => {
        const jobId = await jobs.run('x')
        expect(await jobs.ended(jobId)).toMatchObject({ status: 'failed', outcome: 'error', exitCode: 127 })
      },
      (home) => writeFileSync(join(home, 'codex'), '#!/nowhere/interpreter\n', { mode: 0o755 }),
    ))
})

it('one wrong *_CLI_NAME affects that CLI only', () =>
  withJobs(async (jobs) => {
    const env = { PATH: process.env.PATH, CLAUDE_CLI_NAME: 'bin/claude', CODEX_CLI_NAME: jobs.standIn }
    const other = await jobs.another({ env })
    expect(await other.call('doctor')).toMatchObject({
      claude: { available: false, lookup: 'env', resolvedPath: null },
      codex: { available: true, lookup: 'env', resolvedPath: jobs.standIn, version: 'stand-in 1.0.0' },
      checks: {
        binaryAvailability: true,
        pathResolution: true,
        versionRun: true,
        loginState: false,
        termsAcceptance: false,
      },
    })
    const jobId = await other.run(standInPrompt({ print: codexLines('done') }))
    expect(await other.ended(jobId)).toMatchObject({ status: 'completed' })
    await other.close()
  }))

describe('a bad prompt', () => {
  const invalid = { code: 'invalid_arguments', next: 'fix_call' }

  it.each([
    ['none', {}, 'prompt'],
    ['two', { prompt: 'x', prompt_file: 'y' }, 'prompt'],
    ['a blank one', { prompt: ' \n' }, 'prompt'],
    ['one with a NUL character', { prompt: 'a\0b' }, 'prompt'],
    ['one of more than 1 MiB', { prompt: 'x'.repeat(1_048_577) }, 'prompt'],
    ['a file that is not there', { prompt_file: 'nothing' }, 'prompt_file'],
    ['a directory as file', { prompt_file: '.' }, 'prompt_file'],
  ])('%s', (_name, args, field) =>
    withJobs(async (jobs) => {
      expect(await refused(jobs, args)).toMatchObject({ ...invalid, field })
    }),
  )

  it.each([
    ['empty', Buffer.from(' \n'), 'is empty'],
    ['binary', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0xff, 0xfe]), 'is not UTF-8 text'],
    ['with NUL characters', Buffer.from('a\0b'), 'it has NUL characters'],
    ['of 2 MiB', Buffer.alloc(2_097_152, 'x'), 'has 2097152 bytes; at most 1048576 are allowed'],
  ])('a file that is %s', (_name, bytes, words) =>
    withJobs(async (jobs) => {
      writeFileSync(join(jobs.work, 'task.md'), bytes)
      const error = await refused(jobs, { prompt_file: 'task.md' })
      expect(error).toMatchObject({ ...invalid, field: 'prompt_file' })
      expect(error.message).toContain(words)
    }),
  )

  it.each([
    ['by its absolute path', (outside: string) => outside],
    ['by way of ..', () => '../outside.md'],
    ['through a link', () => 'link.md'],
  ])('a file outside of the work folder, %s', (_name, pathOf) =>
    withJobs(async (jobs) => {
      const outside = join(jobs.work, '..', 'outside.md')
      writeFileSync(outside, 'a secret')
      symlinkSync(outside, join(jobs.work, 'link.md'))
      const error = await refused(jobs, { prompt_file: pathOf(outside) })
      expect(error).toMatchObject({ ...invalid, field: 'prompt_file' })
      expect(error.message).toBe('`prompt_file` must be inside workFolder or an allowed directory.')
    }),
  )

  it('a named pipe is refused at once', () =>
    withJobs(async (jobs) => {
      const { execFileSync } = await import('node:child_process')
      execFileSync('mkfifo', [join(jobs.work, 'pipe')])
      expect((await refused(jobs, { prompt_file: 'pipe' })).message).toBe('`prompt_file` must be a file.')
    }))
})

it('a prompt file in an allowed directory is a prompt', () =>
  withJobs(async (jobs) => {
    const notes = join(jobs.work, '..', 'notes')
    mkdirSync(notes)
    writeFileSync(join(notes, 'task.md'), standInPrompt({ print: codexLines('from a file') }))
    const other = await jobs.another({ allowRoots: [notes] })
    const answer = await other.call('run', {
      workFolder: jobs.work,
      agent: 'codex',
      prompt_file: join(notes, 'task.md'),
    })
    expect(await other.ended(String(at(answer, 'job_id')))).toMatchObject({
      agentOutput: { message: 'from a file' },
    })
    await other.close()
  }))

it.each([
  ['a file', 'file'],
  ['missing', 'missing'],
])('a work folder that is %s is refused', (_name, name) =>
  withJobs(async (jobs) => {
    writeFileSync(join(jobs.work, 'file'), '')
    expect(await refused(jobs, { prompt: 'x', workFolder: join(jobs.work, name) })).toMatchObject({
      code: 'invalid_cwd',
      field: 'workFolder',
    })
  }),
)

it('a relative work folder is refused', () =>
  withJobs(async (jobs) => {
    expect(await refused(jobs, { prompt: 'x', workFolder: 'work' })).toMatchObject({ field: 'workFolder' })
  }))

it.each([100_000, 300_000, 1_048_576])(
  'a prompt of %i characters arrives whole, and never in an argument',
  (size) =>
    withJobs(async (jobs) => {
      const told = join(jobs.work, 'told.json')
      const steps = standInPrompt({ tellTo: told }, { print: codexLines('done') })
      const prompt = steps + ' '.repeat(size - steps.length)
      const jobId = await jobs.run(prompt)
      expect(await jobs.ended(jobId)).toMatchObject({ status: 'completed' })
      const { readFileSync, statSync } = await import('node:fs')
      expect(statSync(join(jobs.stateDir, 'jobs', jobId, 'prompt')).size).toBe(size)
      const args: unknown = at(JSON.parse(readFileSync(told, 'utf8')), 'args')
      expect(JSON.stringify(args)).not.toContain('tellTo')
    }),
)

it('nothing of a prompt, not even one that looks like an option, is seen among the processes', () =>
  withJobs(async (jobs) => {
    const secret = 'a-secret-of-the-prompt'
    const jobId = await jobs.run(
      `${standInPrompt({ sleep: 60_000 })}`.replace('[', `[{"print":"${secret}"},`),
    )
    await poll(
      async () =>
        at(await jobs.call('get_result', { job_id: jobId, stream: 'stdout' }), 'agentOutput.text') === secret,
    )
    const { execFileSync } = await import('node:child_process')
    expect(execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })).not.toContain(secret)
    await jobs.call('kill_process', { job_id: jobId })
  }))

it('more jobs than allowed are refused, with the number, until one ends', () =>
  withJobs(
    async (jobs) => {
      const jobId = await jobs.run(standInPrompt({ sleep: 60_000 }))
      await expect(jobs.run('x')).rejects.toMatchObject({
        code: 'too_many_jobs',
        next: 'same_request_id',
        message: '1 jobs run already; at most 1 may.',
      })
      await jobs.call('kill_process', { job_id: jobId })
      await jobs.ended(await jobs.run(standInPrompt({ print: codexLines('done') })))
    },
    { jobs: { maxRunning: 1 } },
  ))

it.each([
  ['get_result', {}, 'invalid_arguments'],
  ['get_result', { job_id: 'a', pid: 1 }, 'invalid_arguments'],
  ['get_result', { job_id: 'job-unknown' }, 'unknown_job'],
  ['kill_process', { pid: 4_111_111 }, 'unknown_job'],
  ['wait', { pids: [] }, 'invalid_arguments'],
  ['wait', { job_ids: Array.from({ length: 65 }, () => 'x') }, 'invalid_arguments'],
  ['wait', { job_ids: ['x'], timeout: 3_601 }, 'invalid_arguments'],
  ['peek', { job_ids: Array.from({ length: 33 }, () => 'x') }, 'invalid_arguments'],
  ['peek', { job_ids: ['x'], peek_time_sec: 61 }, 'invalid_arguments'],
  ['peek', { job_ids: ['x'], after: ['p0:job-other'] }, 'invalid_cursor'],
] as const)('%s %j is refused as %s', (tool, args, code) =>
  withJobs(async (jobs) => {
    await expect(jobs.call(tool, args)).rejects.toMatchObject({ code })
  }),
)
