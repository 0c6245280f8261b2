import { readFile, rename, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { createRepository, poll, type Repository, userEnvironment } from '@codex-thread-bridge/test-fixtures'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createGit, type Git, MINIMUM_GIT, sourceCheckout } from '../../src/git/index.ts'
import { answering, failure, gitOf, refusal, standInGit } from './support.ts'

let repository: Repository
beforeEach(async () => {
  repository = await createRepository()
})
afterEach(() => repository.remove())

describe('a Git that cannot be used', () => {
  const gitWith = (path: string): Git => createGit({ timeoutMs: 5_000, env: { PATH: path } })

  it('is missing when no absolute directory of PATH has it', async () => {
    await writeFile(join(repository.root, 'git'), '#!/bin/sh\necho git version 2.99.0\n', { mode: 0o755 })
    await writeFile(join(repository.directory, 'git'), 'not executable')
    const path = ['', '.', 'bin', repository.directory, '/nonexistent'].join(delimiter)
    const { code, message } = await refusal(gitWith(path).run(['status'], { cwd: repository.root }))
    expect(code).toBe('git_missing')
    expect(message).toBe(`There is no git in PATH (${repository.directory}, /nonexistent).`)
  })

  it.each(['2.35.8', '2.9.0', '1.8.3.1', '2', '0.0.0'])(
    'is too old as %s, and the answer says what is needed',
    async (version) => {
      const path = await standInGit(repository.directory, `echo 'git version ${version}'`)
      const error = await failure(gitWith(path).version())
      expect(error).toMatchObject({ code: 'git_too_old', next: 'same_request_id' })
      expect(error.message).toBe(`Git ${MINIMUM_GIT} or newer is needed; found ${version}.`)
      expect(error.details).toEqual({ needed: '2.36.0', found: version })
    },
  )

  it.each([
    ['git version 2.36.0', '2.36.0'],
    ['git version 2.36', '2.36'],
    ['git version 2.39.5 (Apple Git-154)', '2.39.5'],
    ['git version 2.55.0.windows.1', '2.55.0'],
    ['git version 2.36.1.vfs.0.0', '2.36.1'],
    ['git version 2.54.0-rc1', '2.54.0'],
    ['git version 10.0', '10.0'],
  ])('is new enough when it says %j', async (answer, version) => {
    const path = await standInGit(repository.directory, `echo '${answer}'`)
    expect(await gitWith(path).version()).toBe(version)
  })

  it('is none that does not say a version', async () => {
    const path = await standInGit(repository.directory, 'echo hello')
    const { code, message } = await refusal(gitWith(path).version())
    expect(code).toBe('git_too_old')
    expect(message).toContain('found an unknown version (hello)')
  })

  it('is looked for again at the next need', async () => {
    const path = join(repository.directory, 'later')
    const git = gitWith(path)
    expect((await refusal(git.version())).code).toBe('git_missing')
    await rename(await standInGit(repository.directory, 'echo git version 2.40.0'), path)
    expect(await git.version()).toBe('2.40.0')
  })
})

describe('a Git command that hangs', () => {
  const alive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }

  /** A stand-in that starts another process, notes both and waits for ever; `first` comes before. */
  const hanging = async (
    timeoutMs: number,
    first = '',
  ): Promise<{ git: Git; pids: () => Promise<number[]> }> => {
    const pidFile = join(repository.directory, 'pids')
    const body = `${first}\nsleep 1000 &\necho $$ $! > '${pidFile}.new'; mv '${pidFile}.new' '${pidFile}'\nwait`
    const path = await standInGit(repository.directory, answering(body))
    return {
      git: createGit({ timeoutMs, env: { PATH: `${path}${delimiter}${process.env['PATH'] ?? ''}` } }),
      pids: async () => (await readFile(pidFile, 'utf8')).trim().split(' ').map(Number),
    }
  }

  it.each([
    ['', 'same_request_id', false],
    ['', 'inspect', true],
    ['trap "" TERM', 'inspect', true],
  ] as const)('is killed with all that it started (%j, next: %s)', async (first, next, changes) => {
    const { git, pids } = await hanging(1_000, first)
    const error = await failure(git.run(['worktree', 'prune'], { cwd: repository.root, changes }))
    expect(error).toMatchObject({
      code: 'git_timeout',
      next,
      message: 'git worktree did not end within 1 s and was killed',
      details: { command: ['git', 'worktree', 'prune'], stderrTail: '' },
    })
    for (const pid of await pids()) await poll(() => !alive(pid), { what: `the end of ${String(pid)}` })
  })

  it.runIf(process.platform === 'linux')(
    'is given up when a process that left the group keeps its output open',
    async () => {
      const { git, pids } = await hanging(500, 'setsid sleep 1000 &\necho $! > escaped')
      expect(await failure(git.run(['status'], { cwd: repository.root }))).toMatchObject({
        code: 'git_timeout',
      })
      for (const pid of await pids()) await poll(() => !alive(pid))
      const escaped = Number(await readFile(join(repository.root, 'escaped'), 'utf8'))
      expect(alive(escaped)).toBe(true)
      process.kill(escaped, 'SIGKILL')
    },
  )

  it('is killed on cancellation; what only looked is as if never called', async () => {
    const { git, pids } = await hanging(60_000)
    const controller = new AbortController()
    const running = failure(git.run(['status'], { cwd: repository.root, signal: controller.signal }))
    const started = await poll(pids)
    controller.abort()
    expect(await running).toMatchObject({ code: 'cancelled', next: 'same_request_id' })
    for (const pid of started) await poll(() => !alive(pid))
    const before = failure(git.run(['status'], { cwd: repository.root, signal: controller.signal }))
    expect(await before).toMatchObject({ code: 'cancelled' })
  })

  it('that changes something says so when it is cancelled', async () => {
    const { git, pids } = await hanging(60_000)
    const controller = new AbortController()
    const options = { cwd: repository.root, signal: controller.signal, changes: true }
    const running = failure(git.run(['worktree', 'prune'], options))
    await poll(pids)
    controller.abort()
    expect(await running).toMatchObject({
      code: 'git_failed',
      next: 'inspect',
      message: 'git worktree was killed because the call was cancelled',
    })
  })

  it('is also the real one, on a settings file that nobody writes', async () => {
    const fifo = join(repository.directory, 'fifo')
    await execa('mkfifo', [fifo])
    await repository.git(['config', 'include.path', fifo])
    const git = createGit({ timeoutMs: 500, env: userEnvironment(repository.home) })
    expect((await refusal(sourceCheckout(git, repository.root))).code).toBe('git_timeout')
  })
})

describe('a Git command that fails', () => {
  it('tells command, exit code and the end of what it said, without passwords', async () => {
    const body =
      'i=0; while [ $i -lt 3000 ]; do echo "line $i" >&2; i=$((i+1)); done\necho "fatal: no https://me:secret@host.invalid/x" >&2; exit 3'
    const path = await standInGit(repository.directory, answering(body))
    const git = createGit({ timeoutMs: 30_000, env: { PATH: path } })
    const args = ['fetch', 'https://me:secret@host.invalid/x']
    const error = await failure(git.run(args, { cwd: repository.root, changes: true }))
    expect(error).toMatchObject({ code: 'git_failed', next: 'inspect' })
    expect(error.message).toBe('git fetch failed (exit code 3): fatal: no https://***@host.invalid/x')
    expect(error.details).toMatchObject({
      command: ['git', 'fetch', 'https://***@host.invalid/x'],
      exitCode: 3,
    })
    const tail = String(error.details?.['stderrTail'])
    expect(tail).toHaveLength(2_000)
    expect(tail.endsWith('line 2999\nfatal: no https://***@host.invalid/x\n')).toBe(true)
  })

  it('is one that answers too much', async () => {
    const git = createGit({ timeoutMs: 30_000, maxStdout: 50_000, env: userEnvironment(repository.home) })
    const long = { path: 'long', content: 'x'.repeat(100_000) }
    await repository.commit([long])
    const options = { cwd: repository.root }
    expect((await git.run(['cat-file', '-s', 'HEAD:long'], options)).stdout.toString()).toBe('100000\n')
    const { code, message } = await refusal(git.run(['cat-file', '-p', 'HEAD:long'], options))
    expect(code).toBe('git_failed')
    expect(message).toBe('git cat-file answered with more than 50000 bytes')
  })

  it('reads what it is given, and nothing else', async () => {
    const git = gitOf(repository)
    const input = Buffer.from([0xff, 0x00, 0x0a])
    const { stdout } = await git.run(['hash-object', '--stdin'], { cwd: repository.root, input })
    expect(stdout.toString()).toMatch(/^[0-9a-f]{40}\n$/)
    const empty = await git.run(['hash-object', '--stdin'], { cwd: repository.root })
    expect(empty.stdout.toString()).toBe('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n')
  })
})
