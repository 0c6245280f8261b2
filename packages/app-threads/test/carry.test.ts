import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createGit } from '@codex-thread-bridge/core/git'
import {
  createRepository,
  listing,
  type Repository,
  tempDir,
  type TempDir,
} from '@codex-thread-bridge/test-fixtures'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changesOf } from '../src/git/changes.ts'
import { carryChanges, firstDifference } from '../src/git/carry.ts'

const git = createGit({ timeoutMs: 30_000 })
const binary = Buffer.from([0, 1, 2, 255, 254, 10, 13, 10])

describe('carrying uncommitted changes into another checkout', () => {
  let repository: Repository
  let folder: TempDir
  let to: string

  beforeEach(async () => {
    repository = await createRepository({
      files: [
        { path: 'kept.txt', content: 'kept\n' },
        { path: 'staged.txt', content: 'old\n' },
        { path: 'both.txt', content: 'old\n' },
        { path: 'unstaged.txt', content: 'old\n' },
        { path: 'deleted.txt', content: 'old\n' },
        { path: 'removed.txt', content: 'old\n' },
        { path: 'renamed.txt', content: 'old\n' },
        { path: 'script.sh', content: '#!/bin/sh\n' },
        { path: 'link', content: 'kept.txt', kind: 'link' },
        { path: 'file-then-directory', content: 'old\n' },
        { path: 'directory-then-file/inside.txt', content: 'old\n' },
        { path: 'binary.bin', content: Buffer.from([1, 2, 3]) },
        { path: '.gitignore', content: 'ignored/\n*.log\n' },
      ],
    })
    folder = tempDir('wt')
    to = join(folder.path, 'worktree')
    await repository.git(['worktree', 'add', '--detach', to, 'HEAD'])
  })
  afterEach(async () => {
    await repository.remove()
    await folder.remove()
  })

  const at = (path: string) => join(repository.root, path)
  const status = (cwd: string) => repository.git(['status', '--porcelain=v2', '--untracked-files=all'], cwd)
  const patch = (cwd: string, ...args: readonly string[]) =>
    repository.git(['diff', '--binary', ...args], cwd)

  /** Everything that a working tree can have. */
  const change = async () => {
    await writeFile(at('staged.txt'), 'new\n')
    await writeFile(at('both.txt'), 'staged\n')
    await writeFile(at('binary.bin'), binary)
    await writeFile(at('new.txt'), 'new\n')
    await writeFile(at('name with "quotes"\tand ümlaut.txt'), 'new\n')
    await repository.git(['mv', 'renamed.txt', 'renamed to.txt'])
    await repository.git(['rm', '--quiet', 'removed.txt'])
    await repository.git([
      'add',
      '--',
      'staged.txt',
      'both.txt',
      'binary.bin',
      'new.txt',
      'name with "quotes"\tand ümlaut.txt',
    ])
    await writeFile(at('both.txt'), 'and more\n')
    await writeFile(at('unstaged.txt'), 'new\n')
    await chmod(at('script.sh'), 0o755)
    await rm(at('deleted.txt'))
    await rm(at('link'))
    await symlink('/no/such/place', at('link'))
    await rm(at('file-then-directory'))
    await mkdir(at('file-then-directory'))
    await writeFile(at('file-then-directory/now'), 'inside\n')
    await rm(at('directory-then-file'), { recursive: true })
    await writeFile(at('directory-then-file'), 'now a file\n')
    await mkdir(at('untracked/deep'), { recursive: true })
    await writeFile(at('untracked/deep/file'), binary)
    await writeFile(at('untracked/run'), '#!/bin/sh\n', { mode: 0o755 })
    await symlink('deep', at('untracked/link'))
    await mkdir(at('ignored'))
    await writeFile(at('ignored/file'), 'not carried\n')
    await writeFile(at('a.log'), 'not carried\n')
  }

  it('carries staged, unstaged and untracked changes, each as what it is', async () => {
    await change()
    await status(repository.root)
    const own = (lines: readonly string[]) => lines.filter((line) => !line.startsWith('.git/worktrees/'))
    const before = own(await listing(repository.root))
    const carried = await carryChanges(git, { from: repository.root, to })
    expect(own(await listing(repository.root))).toEqual(before)
    expect(carried).toEqual({ staged: 8, unstaged: 7, untracked: 5 })
    expect(await status(to)).toBe(await status(repository.root))
    expect(await patch(to)).toBe(await patch(repository.root))
    expect(await patch(to, '--cached')).toBe(await patch(repository.root, '--cached'))
    const without = (lines: readonly string[]) =>
      lines.filter((line) => !/^(\.git|ignored|a\.log)( |\/)/.test(line))
    expect(without(await listing(to))).toEqual(without(await listing(repository.root)))
  })

  it('carries nothing from a clean checkout', async () => {
    expect(await carryChanges(git, { from: repository.root, to })).toEqual({
      staged: 0,
      unstaged: 0,
      untracked: 0,
    })
    expect(await status(to)).toBe('')
  })

  it('keeps files that are announced without content as that', async () => {
    await writeFile(at('announced.txt'), 'later\n')
    await repository.git(['add', '--intent-to-add', 'announced.txt'])
    await carryChanges(git, { from: repository.root, to })
    expect(await status(to)).toBe(await status(repository.root))
  })

  it('carries names that are no text', async () => {
    const name = Buffer.concat([Buffer.from(`${repository.root}/`), Buffer.from([0xff, 0x20, 0xe4])])
    await writeFile(name, 'bytes\n')
    await carryChanges(git, { from: repository.root, to })
    expect(
      await readFile(Buffer.concat([Buffer.from(`${to}/`), Buffer.from([0xff, 0x20, 0xe4])]), 'utf8'),
    ).toBe('bytes\n')
  })

  it('refuses a conflict, a repository within, and a submodule with changes, and leaves both sides alone', async () => {
    await mkdir(at('nested'))
    await repository.git(['init', '--quiet'], at('nested'))
    await writeFile(at('nested/file'), 'x')
    await expect(carryChanges(git, { from: repository.root, to })).rejects.toMatchObject({
      code: 'uncarried_changes',
      message: expect.stringContaining('nested/ is a repository of its own') as string,
    })
    await rm(at('nested'), { recursive: true })
    await repository.git(['checkout', '--quiet', '-b', 'other'])
    await writeFile(at('kept.txt'), 'theirs\n')
    await repository.git(['commit', '--quiet', '-am', 'theirs'])
    await repository.git(['checkout', '--quiet', 'main'])
    await writeFile(at('kept.txt'), 'ours\n')
    await repository.git(['commit', '--quiet', '-am', 'ours'])
    await repository.git(['merge', 'other']).catch(() => undefined)
    await expect(changesOf(git, repository.root)).rejects.toMatchObject({
      code: 'uncarried_changes',
      message: expect.stringContaining('kept.txt has a conflict') as string,
    })
    expect(await status(to)).toBe('')
  })

  it('tells two checkouts apart by index, content, mode and extra files', async () => {
    const paths = { from: repository.root, to }
    expect(await firstDifference(git, paths)).toBeUndefined()
    await writeFile(at('kept.txt'), 'changed\n')
    expect(await firstDifference(git, paths)).toBe('kept.txt')
    await writeFile(join(to, 'kept.txt'), 'changed\n')
    expect(await firstDifference(git, paths)).toBeUndefined()
    await chmod(at('script.sh'), 0o755)
    expect(await firstDifference(git, paths)).toBe('script.sh')
    await chmod(join(to, 'script.sh'), 0o755)
    await repository.git(['add', 'kept.txt'])
    expect(await firstDifference(git, paths)).toBe('the index')
    await repository.git(['add', 'kept.txt'], to)
    await writeFile(join(to, 'more'), '')
    expect(await firstDifference(git, paths)).toBe('more')
    await rename(join(to, 'more'), at('more'))
    expect(await firstDifference(git, paths)).toBe('more')
  })
})
