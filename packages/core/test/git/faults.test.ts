import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import {
  createRepository,
  listing,
  poll,
  type Repository,
  type TreeEntry,
  userEnvironment,
} from '@codex-thread-bridge/test-fixtures'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BridgeError } from '../../src/contract/errors.ts'
import {
  addWorktree,
  checkOut,
  createGit,
  type Git,
  inspectWorktree,
  MINIMUM_GIT,
  registeredWorktree,
  type Reservation,
  reserveDestination,
  sourceCheckout,
} from '../../src/git/index.ts'
import { answering, gitOf, refusal, standInGit } from './support.ts'

let repository: Repository
beforeEach(async () => {
  repository = await createRepository()
})
afterEach(() => repository.remove())

/** The whole error that a promise rejects with. */
const failure = async (promise: Promise<unknown>): Promise<BridgeError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof BridgeError) return error
  throw new Error('it did not reject with a BridgeError', { cause: error })
}

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

describe('a launch that fails half-way', () => {
  let destination: string
  let reservation: Reservation
  let git: Git
  beforeEach(async () => {
    git = gitOf(repository)
    destination = join(repository.directory, 'launched')
    reservation = await reserveDestination(destination)
  })

  const add = (by = git): Promise<void> =>
    addWorktree(by, {
      source: repository,
      destination: reservation,
      revision: repository.head,
      reason: 'a test',
    })

  it('because the source is gone, leaves the reserved directory alone', async () => {
    await rename(repository.root, join(repository.directory, 'moved'))
    expect(await failure(add())).toMatchObject({
      code: 'git_failed',
      next: 'inspect',
      message: `git config could not be started in ${repository.root} (ENOENT)`,
    })
    expect(await readdir(destination)).toEqual([])
  })

  it('because the destination was swapped for a link, changes nothing at either end', async () => {
    const elsewhere = join(repository.directory, 'elsewhere')
    await mkdir(elsewhere)
    await rm(destination, { recursive: true })
    await symlink(elsewhere, destination)
    const before = await listing(repository.directory)
    expect(await failure(add())).toMatchObject({ code: 'destination_changed', next: 'inspect' })
    expect(await listing(repository.directory)).toEqual(before)
  })

  it('because something was put into the destination, leaves that alone', async () => {
    await writeFile(join(destination, 'theirs'), 'kept')
    const error = await failure(add())
    expect(error).toMatchObject({ code: 'git_failed', next: 'inspect' })
    expect(error.message).toContain('already exists')
    expect(await readFile(join(destination, 'theirs'), 'utf8')).toBe('kept')
    expect(await registeredWorktree(git, repository, destination)).toBeUndefined()
  })

  it('because a file stands where one is to be written, leaves that alone', async () => {
    await add()
    await writeFile(join(destination, 'read me.txt'), 'theirs')
    const error = await failure(checkOut(git, reservation, repository.head))
    expect(error).toMatchObject({ code: 'git_failed', next: 'inspect' })
    expect(error.message).toContain("Untracked working tree file 'read me.txt' would be overwritten")
    expect(await readFile(join(destination, 'read me.txt'), 'utf8')).toBe('theirs')
  })

  it('because the index is locked, can be seen for what it is', async () => {
    await add()
    const lock = join(repository.root, '.git', 'worktrees', 'launched', 'index.lock')
    await writeFile(lock, '')
    const error = await failure(checkOut(git, reservation, repository.head))
    expect(error).toMatchObject({ code: 'git_failed', next: 'inspect', details: { exitCode: 128 } })
    expect(error.message).toContain("index.lock': File exists")
    expect(await inspectWorktree(git, destination)).toMatchObject({
      clean: false,
      locked: true,
      head: repository.head,
    })
    await rm(lock)
    await checkOut(git, reservation, repository.head)
    expect(await inspectWorktree(git, destination)).toMatchObject({ clean: true })
  })

  it('because no file may grow, can be seen for what it is', async () => {
    const files: TreeEntry[] = [{ path: 'large', content: Buffer.alloc(1_000_000, 'x') }]
    const revision = await repository.commit(files)
    const real = (await execa('sh', ['-c', 'command -v git'])).stdout
    const path = await standInGit(repository.directory, `ulimit -f 100\nexec '${real}' "$@"`)
    const env = {
      ...userEnvironment(repository.home),
      PATH: `${path}${delimiter}${process.env['PATH'] ?? ''}`,
    }
    const limited = createGit({ timeoutMs: 30_000, env })
    await addWorktree(limited, { source: repository, destination: reservation, revision, reason: 'a test' })
    expect(await failure(checkOut(limited, reservation, revision))).toMatchObject({
      code: 'git_failed',
      next: 'inspect',
    })
    const found = await inspectWorktree(git, destination)
    expect(found).toMatchObject({ clean: false, locked: true, head: revision })
    expect(found.dirty).toContain('large')
  })

  it('because the disk is full, can be seen for what it is', async ({ skip }) => {
    const disk = join(repository.directory, 'disk')
    await mkdir(disk)
    const mounted = await execa('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'none', disk], { reject: false })
    skip(mounted.exitCode !== 0, 'a file system may not be mounted here')
    try {
      const revision = await repository.commit([{ path: 'large', content: Buffer.alloc(1_000_000, 'x') }])
      const full = await reserveDestination(join(disk, 'launched'))
      await addWorktree(git, { source: repository, destination: full, revision, reason: 'a test' })
      const error = await failure(checkOut(git, full, revision))
      expect(error).toMatchObject({ code: 'git_failed', next: 'inspect' })
      expect(String(error.details?.['stderrTail'])).toContain('unable to write file')
      expect(await inspectWorktree(git, full.path)).toMatchObject({
        clean: false,
        locked: true,
        head: revision,
      })
    } finally {
      await execa('umount', [disk])
    }
  })

  it('because Git is killed while it registers, leaves nothing on record or says so', async () => {
    const real = (await execa('sh', ['-c', 'command -v git'])).stdout
    const body = `'${real}' "$@"\ncode=$?\ncase "$*" in *'worktree add'*) kill -KILL $$ ;; esac\nexit $code`
    const path = await standInGit(repository.directory, body)
    const env = {
      ...userEnvironment(repository.home),
      PATH: `${path}${delimiter}${process.env['PATH'] ?? ''}`,
    }
    const error = await failure(add(createGit({ timeoutMs: 30_000, env })))
    expect(error).toMatchObject({ code: 'git_failed', next: 'inspect', details: { exitCode: null } })
    expect(error.message).toContain('SIGKILL')
    expect(await registeredWorktree(git, repository, destination)).toMatchObject({
      locked: true,
      head: repository.head,
    })
    expect(existsSync(join(destination, '.git'))).toBe(true)
  })

  it('because another launch has the name on record, leaves both alone', async () => {
    await add()
    await rm(destination, { recursive: true })
    const again = await reserveDestination(destination)
    const error = await failure(
      addWorktree(git, {
        source: repository,
        destination: again,
        revision: repository.head,
        reason: 'another',
      }),
    )
    expect(error).toMatchObject({ code: 'git_failed', next: 'inspect' })
    expect(error.message).toContain('missing but locked worktree')
    expect(await registeredWorktree(git, repository, destination)).toMatchObject({ lockReason: 'a test' })
  })
})
