import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import {
  createRepository,
  listing,
  type Repository,
  type TreeEntry,
  userEnvironment,
} from '@codex-thread-bridge/test-fixtures'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  addWorktree,
  checkOut,
  createGit,
  type Git,
  inspectWorktree,
  registeredWorktree,
  type Reservation,
  reserveDestination,
} from '../../src/git/index.ts'
import { failure, gitOf, sourceOf, standInGit } from './support.ts'

let repository: Repository
beforeEach(async () => {
  repository = await createRepository()
})
afterEach(() => repository.remove())

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

  const fill = (by = git, revision = repository.head): Promise<void> =>
    checkOut(by, { source: sourceOf(repository), destination: reservation, revision })

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
    const error = await failure(fill())
    expect(error).toMatchObject({ code: 'git_failed', next: 'inspect' })
    expect(error.message).toContain("Untracked working tree file 'read me.txt' would be overwritten")
    expect(await readFile(join(destination, 'read me.txt'), 'utf8')).toBe('theirs')
  })

  it('because the index is locked, can be seen for what it is', async () => {
    await add()
    const { gitDirectory } = await inspectWorktree(git, destination)
    const lock = join(gitDirectory, 'index.lock')
    await writeFile(lock, '')
    const error = await failure(fill())
    expect(error).toMatchObject({ code: 'git_failed', next: 'inspect', details: { exitCode: 128 } })
    expect(error.message).toContain("index.lock': File exists")
    expect(await inspectWorktree(git, destination)).toMatchObject({
      clean: false,
      locked: true,
      head: repository.head,
    })
    await rm(lock)
    await fill()
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
    expect(await failure(fill(limited, revision))).toMatchObject({
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
      const error = await failure(
        checkOut(git, { source: sourceOf(repository), destination: full, revision }),
      )
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
