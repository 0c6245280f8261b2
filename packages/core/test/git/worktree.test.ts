import { existsSync } from 'node:fs'
import { lstat, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createRepository,
  listing,
  type Repository,
  type RepositoryOptions,
  type TreeEntry,
} from '@codex-thread-bridge/test-fixtures'
import { afterEach, describe, expect, it } from 'vitest'
import {
  addWorktree,
  checkOut,
  inspectWorktree,
  registeredWorktree,
  reserveDestination,
  sourceCheckout,
} from '../../src/git/index.ts'
import { gitOf, launch, sourceOf } from './support.ts'

const repositories: Repository[] = []
const repositoryWith = async (options: RepositoryOptions): Promise<Repository> => {
  const repository = await createRepository(options)
  repositories.push(repository)
  return repository
}
afterEach(async () => {
  for (const repository of repositories.splice(0)) await repository.remove()
})

/** A worktree of the first commit at `launched`. */
const launched = async (options: RepositoryOptions, name = 'launched') => {
  const repository = await repositoryWith(options)
  const destination = join(repository.directory, name)
  const git = gitOf(repository)
  const source = await launch(git, repository.root, repository.head, destination)
  return { repository, destination, git, source }
}

describe.each(['sha1', 'sha256'] as const)('a worktree of a %s repository', (objectFormat) => {
  it('is locked, detached at the revision and clean, and Git has it on record', async () => {
    const { repository, destination, git, source } = await launched({ objectFormat })
    expect(await inspectWorktree(git, destination)).toEqual({
      root: destination,
      head: repository.head,
      // Named after the descriptor through which Git finds the directory.
      gitDirectory: join(
        repository.root,
        '.git',
        'worktrees',
        existsSync('/proc/self/fd') ? '3' : 'launched',
      ),
      commonDirectory: join(repository.root, '.git'),
      detached: true,
      locked: true,
      lockReason: 'a test',
      clean: true,
      dirty: [],
    })
    expect(await registeredWorktree(git, source, destination)).toEqual({
      path: destination,
      head: repository.head,
      branch: undefined,
      detached: true,
      locked: true,
      lockReason: 'a test',
      prunable: undefined,
    })
    expect((await lstat(destination)).mode & 0o777).toBe(0o700)
    expect(await readFile(join(destination, 'read me.txt'), 'utf8')).toBe('hello\n')
  })

  it('takes nothing from the source’s uncommitted changes, and leaves them as they are', async () => {
    const repository = await repositoryWith({ objectFormat })
    await writeFile(join(repository.root, 'read me.txt'), 'changed\n')
    await writeFile(join(repository.root, 'staged.txt'), 'staged\n')
    await writeFile(join(repository.root, 'untracked.txt'), 'untracked\n')
    await repository.git(['add', 'staged.txt'])
    const before = await listing(repository.root)
    const destination = join(repository.directory, 'launched')
    await launch(gitOf(repository), repository.root, repository.head, destination)
    expect((await readdir(destination)).sort()).toEqual(['.git', 'read me.txt'])
    const fresh = (await listing(repository.root)).filter((line) => !before.includes(line))
    expect(fresh.every((line) => line.startsWith('.git/worktrees'))).toBe(true)
    expect(before.filter((line) => fresh.includes(line))).toEqual([])
  })

  it('can be made of an older commit from a linked worktree', async () => {
    const repository = await repositoryWith({ objectFormat })
    await repository.commit([{ path: 'second', content: '2' }])
    const linked = join(repository.directory, 'linked')
    await repository.git(['worktree', 'add', '--quiet', linked])
    const destination = join(repository.directory, 'launched')
    const source = await launch(gitOf(repository), linked, repository.head, destination)
    const found = await inspectWorktree(gitOf(repository), destination)
    expect(found).toMatchObject({
      head: repository.head,
      clean: true,
      commonDirectory: source.commonDirectory,
    })
    expect((await readdir(destination)).sort()).toEqual(['.git', 'read me.txt'])
  })
})

describe('a worktree at an odd path', () => {
  it.each([
    'with space',
    'new\nline',
    'ends in a newline\n',
    'caf\u00e9',
    'cafe\u0301',
    '-dash',
    '..dots',
    '\u2028',
    '日本',
    '@{0}',
  ])('is made at %j from a source of that name', async (name) => {
    const repository = await repositoryWith({ name })
    const destination = join(repository.directory, `to ${name}`)
    const git = gitOf(repository)
    const source = await launch(git, repository.root, repository.head, destination)
    expect(await inspectWorktree(git, destination)).toMatchObject({ root: destination, clean: true })
    expect(await registeredWorktree(git, source, destination)).toMatchObject({
      path: destination,
      locked: true,
    })
  })
})

describe('the files of a worktree', () => {
  const bytes = (...parts: readonly (string | number)[]): Uint8Array =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))))

  const byBytes = (one: Buffer, other: Buffer): number => one.compare(other)

  it('have any name: white space, newlines, composed and decomposed, no text at all, alike but for case', async () => {
    const files: TreeEntry[] = [
      'with space', 'new\nline', '\ttab', 'caf\u00e9', 'cafe\u0301', 'README', 'readme', 'Readme', '-dash', ':(top)', '*', '\u2028', '"quoted"', 'back\\slash', ' ', 'x'.repeat(250), bytes('raw', 0xff), bytes(0xe9, 0x0a),
    ].map((path) => ({ path, content: path })) // prettier-ignore
    const { destination, git } = await launched({ files })
    const names = (await readdir(destination, { encoding: 'buffer' })).filter(
      (name) => name.toString() !== '.git',
    )
    const wanted = files.map(({ path }) => Buffer.from(path))
    expect(names.sort(byBytes)).toEqual(wanted.sort(byBytes))
    expect(await inspectWorktree(git, destination)).toMatchObject({ clean: true })
  })

  it('are told when they change: the first ten, bytes that are no text as U+FFFD', async () => {
    const files = Array.from({ length: 15 }, (_, n) => ({
      path: `f${String(n).padStart(2, '0')}`,
      content: '',
    }))
    const { destination, git } = await launched({
      files: [...files, { path: bytes('a', 0xff), content: '' }],
    })
    for (const { path } of files) await rm(join(destination, path))
    await writeFile(Buffer.concat([Buffer.from(`${destination}/a`), Buffer.from([0xff])]), 'changed')
    await writeFile(join(destination, 'new\nfile'), '')
    const { clean, dirty } = await inspectWorktree(git, destination)
    expect(clean).toBe(false)
    expect(dirty).toEqual(['a\ufffd', ...files.slice(0, 9).map(({ path }) => path)])
    for (const { path } of files) await writeFile(join(destination, path), '')
    await writeFile(Buffer.concat([Buffer.from(`${destination}/a`), Buffer.from([0xff])]), '')
    expect(await inspectWorktree(git, destination)).toMatchObject({ clean: false, dirty: ['new\nfile'] })
  })

  it('keep executable bits, links and what is stored of filtered files; submodules are empty directories', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2\nsize 12345\n'
    const repository = await repositoryWith({
      files: [
        { path: 'run.sh', content: '#!/bin/sh\n', kind: 'executable' },
        { path: 'to file', content: 'run.sh', kind: 'link' },
        { path: 'to nowhere', content: '../../nowhere', kind: 'link' },
        {
          path: '.gitattributes',
          content: '*.bin filter=lfs diff=lfs merge=lfs -text\n*.crlf text eol=crlf\n',
        },
        { path: 'large.bin', content: pointer },
        { path: 'text.crlf', content: 'line\n' },
        { path: 'sub', content: 'c'.repeat(40), kind: 'submodule' },
        { path: '.gitmodules', content: '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n' },
      ],
      checkedOut: false,
    })
    await repository.git(['config', 'filter.lfs.smudge', 'false'])
    await repository.git(['config', 'filter.lfs.clean', 'false'])
    await repository.git(['config', 'filter.lfs.process', 'false'])
    await repository.git(['config', 'filter.lfs.required', 'true'])
    await repository.git(['config', 'submodule.recurse', 'true'])
    const destination = join(repository.directory, 'launched')
    await launch(gitOf(repository), repository.root, repository.head, destination)
    expect((await lstat(join(destination, 'run.sh'))).mode & 0o111).not.toBe(0)
    expect((await lstat(join(destination, 'large.bin'))).mode & 0o111).toBe(0)
    expect(await readlink(join(destination, 'to file'))).toBe('run.sh')
    expect(await readlink(join(destination, 'to nowhere'))).toBe('../../nowhere')
    expect(await readFile(join(destination, 'large.bin'), 'utf8')).toBe(pointer)
    expect(await readFile(join(destination, 'text.crlf'), 'utf8')).toBe('line\r\n')
    expect(await readdir(join(destination, 'sub'))).toEqual([])
    expect(await inspectWorktree(gitOf(repository), destination)).toMatchObject({ clean: true })
  })

  it('of a sparse source are those that its patterns name', async () => {
    const files = ['in/file', 'out/file', 'top'].map((path) => ({ path, content: path }))
    const repository = await repositoryWith({ files })
    await repository.git(['sparse-checkout', 'set', 'in'])
    const destination = join(repository.directory, 'launched')
    await launch(gitOf(repository), repository.root, repository.head, destination)
    expect((await readdir(destination)).sort()).toEqual(['.git', 'in', 'top'])
    expect(await inspectWorktree(gitOf(repository), destination)).toMatchObject({ clean: true })
    expect(await repository.git(['status', '--porcelain'], destination)).toBe('')
  })

  it('may be 20,000', async () => {
    const files = Array.from({ length: 20_000 }, (_, n) => ({
      path: `folder ${String(n % 200)}/file ${String(n)}.txt`,
      content: `${String(n)}\n`,
    }))
    const { repository, destination, git } = await launched({ files, checkedOut: false })
    expect(await inspectWorktree(git, destination)).toMatchObject({ head: repository.head, clean: true })
    const tracked = await repository.git(['ls-files', '-z'], destination)
    expect(tracked.split('\0').length - 1).toBe(20_000)
    expect(await readFile(join(destination, 'folder 199/file 19999.txt'), 'utf8')).toBe('19999\n')
  })
})

describe('looking at a worktree', () => {
  it('writes nothing, also not a fresh index', async () => {
    const { repository, destination, git, source } = await launched({})
    await writeFile(join(destination, 'read me.txt'), 'hello\n')
    const before = await listing(repository.directory)
    await inspectWorktree(git, destination)
    await registeredWorktree(git, source, destination)
    expect(await listing(repository.directory)).toEqual(before)
  })

  it('tells a branch, another commit, a lost lock, and no files yet', async () => {
    const { repository, destination, git } = await launched({})
    const second = await repository.commit([{ path: 'second', content: '' }])
    await repository.git(['switch', '--quiet', '-c', '(detached)'], destination)
    expect(await inspectWorktree(git, destination)).toMatchObject({ detached: false, head: repository.head })
    await repository.git(['switch', '--quiet', '--detach', second], destination)
    await repository.git(['worktree', 'unlock', destination])
    const found = await inspectWorktree(git, destination)
    expect(found).toMatchObject({ detached: true, head: second, locked: false, clean: true })
    expect(found.lockReason).toBeUndefined()

    const source = await sourceCheckout(git, repository.root)
    const empty = await reserveDestination(join(repository.directory, 'empty'))
    await addWorktree(git, { source, destination: empty, revision: second, reason: 'x' })
    expect(await inspectWorktree(git, empty.path)).toMatchObject({
      head: second,
      clean: false,
      dirty: ['read me.txt', 'second'],
    })
  })

  it('tells what is on record of one that is gone, and nothing of what never was', async () => {
    const { repository, destination, git, source } = await launched({})
    await rm(destination, { recursive: true })
    expect(await registeredWorktree(git, source, destination)).toMatchObject({
      path: destination,
      locked: true,
    })
    await repository.git(['worktree', 'unlock', destination])
    expect((await registeredWorktree(git, source, destination))?.prunable).toContain('non-existent location')
    expect(await registeredWorktree(git, source, join(repository.directory, 'other'))).toBeUndefined()
  })

  it('keeps a reason with newlines whole', async () => {
    const repository = await repositoryWith({})
    const git = gitOf(repository)
    const destination = await reserveDestination(join(repository.directory, 'launched'))
    const reason = 'codex-thread-bridge "42"\nkept ünïcode'
    await addWorktree(git, { source: repository, destination, revision: repository.head, reason })
    await checkOut(git, { source: sourceOf(repository), destination, revision: repository.head })
    expect(await inspectWorktree(git, destination.path)).toMatchObject({ locked: true, lockReason: reason })
  })
})
