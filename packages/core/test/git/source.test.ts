import { execFile } from 'node:child_process'
import { chown, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createRepository, listing, type Repository } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkGitFiles, type Git, sourceCheckout } from '../../src/git/index.ts'
import { gitOf, refusal } from './support.ts'

describe.each(['sha1', 'sha256'] as const)('the source checkout of a %s repository', (objectFormat) => {
  it.each([
    'source',
    'with space',
    'new\nline',
    'ends in a newline\n',
    'caf\u00e9',
    'cafe\u0301',
    '-dash',
    'quote\'"',
  ])('is known at %j', async (name) => {
    const repository = await createRepository({ objectFormat, name })
    const { root } = repository
    const gitDirectory = join(root, '.git')
    expect(await sourceCheckout(gitOf(repository), root)).toEqual({
      root,
      gitDirectory,
      commonDirectory: gitDirectory,
      objectFormat,
    })
    await repository.remove()
  })

  it('may be a linked worktree, a sparse checkout, one of a bare repository, or one with its Git directory elsewhere', async () => {
    const repository = await createRepository({ objectFormat })
    const { root, directory } = repository
    const git = gitOf(repository)
    const linked = join(directory, 'linked')
    await repository.git(['worktree', 'add', '--quiet', linked])
    expect(await sourceCheckout(git, linked)).toEqual({
      root: linked,
      gitDirectory: join(root, '.git', 'worktrees', 'linked'),
      commonDirectory: join(root, '.git'),
      objectFormat,
    })

    await repository.git(['sparse-checkout', 'set', 'nothing'], linked)
    expect((await sourceCheckout(git, linked)).root).toBe(linked)

    const bare = join(directory, 'bare.git')
    await repository.git(['clone', '--quiet', '--bare', root, bare])
    const ofBare = join(directory, 'of-bare')
    await repository.git(['worktree', 'add', '--quiet', '--detach', ofBare], bare)
    expect((await sourceCheckout(git, ofBare)).commonDirectory).toBe(bare)

    const elsewhere = join(directory, 'elsewhere')
    await repository.git(['init', '--quiet', `--separate-git-dir=${elsewhere}`, root])
    expect((await sourceCheckout(git, root)).gitDirectory).toBe(elsewhere)
    await repository.remove()
  })
})

describe('what is no source checkout', () => {
  let repository: Repository
  let git: Git
  beforeAll(async () => {
    repository = await createRepository({ files: [{ path: 'folder/file', content: '' }] })
    git = gitOf(repository)
    const { root, directory } = repository
    await repository.git(['init', '--quiet', '--bare', join(directory, 'bare.git')])
    await symlink(root, join(directory, 'link'))
    await symlink(directory, join(directory, 'loop'))
    await writeFile(join(directory, 'file'), '')
    await mkdir(join(directory, 'empty'))
    await mkdir(join(directory, 'corrupt'))
    await repository.git(['init', '--quiet', join(directory, 'corrupt')])
    await writeFile(join(directory, 'corrupt', '.git', 'config'), '[core\n')
    await repository.git(['init', '--quiet', join(directory, 'newer')])
    await repository.git(['config', 'core.repositoryFormatVersion', '99'], join(directory, 'newer'))
    await repository.git(['init', '--quiet', join(directory, 'displaced')])
    await repository.git(['config', 'core.worktree', join(directory, 'empty')], join(directory, 'displaced'))
  })
  afterAll(() => repository.remove())

  it.each([
    ['source', 'must be an absolute path'],
    ['D/missing', 'does not exist'],
    ['D/source/', 'must be its real path'],
    ['D/source/.', 'must be its real path'],
    ['D/source/folder/..', 'must be its real path'],
    ['D/link', 'must be its real path'],
    ['D/loop/source', 'must be its real path'],
    ['D/file', 'is not a directory'],
    ['D/empty', 'not a git repository'],
    ['D/source/folder', 'is not the root of its checkout'],
    ['D/source/.git', 'is a Git directory'],
    ['D/source/.git/refs', 'is a Git directory'],
    ['D/bare.git', 'is bare'],
    ['D/corrupt', 'bad config line 1'],
    ['D/newer', 'Expected git repo version <= 1, found 99'],
    ['D/displaced', 'is not the root of its checkout'],
  ])('%s is refused: it %s', async (path, reason) => {
    const before = await listing(repository.directory)
    const { code, message } = await refusal(sourceCheckout(git, path.replace('D', repository.directory)))
    expect(code).toBe('invalid_source_repository')
    expect(message).toContain(reason)
    expect(await listing(repository.directory)).toEqual(before)
  })

  it.runIf(process.getuid?.() === 0)(
    'a repository of another user is refused until the user calls it safe',
    async () => {
      const other = await createRepository()
      await chown(other.root, 65_534, 65_534)
      const { code, message } = await refusal(sourceCheckout(gitOf(other), other.root))
      expect(code).toBe('invalid_source_repository')
      expect(message).toContain('detected dubious ownership')
      await other.git(['config', '--global', 'safe.directory', other.root], other.directory)
      expect((await sourceCheckout(gitOf(other), other.root)).root).toBe(other.root)
      await other.remove()
    },
  )

  it('a Git directory at a path that is not UTF-8 is refused as such', async () => {
    const other = await createRepository()
    const odd = Buffer.concat([Buffer.from(`${other.directory}/odd`), Buffer.from([0xff])])
    await rename(join(other.root, '.git'), odd)
    await writeFile(
      join(other.root, '.git'),
      Buffer.concat([Buffer.from('gitdir: '), odd, Buffer.from('\n')]),
    )
    const { code, message } = await refusal(sourceCheckout(gitOf(other), other.root))
    expect(code).toBe('unsupported_path')
    expect(message).toContain('is not UTF-8')
    await rm(odd, { recursive: true })
    await other.remove()
  })
})

describe('a Git file that would keep Git waiting', () => {
  const notRun: Git = {
    run: () => Promise.reject(new Error('Git was run')),
    version: () => Promise.reject(new Error('Git was run')),
  }
  const replace = async (path: string): Promise<void> => {
    await rm(path, { force: true })
    await promisify(execFile)('mkfifo', [path])
  }

  it.each([
    'HEAD',
    'config',
    'config.worktree',
    'commondir',
    'index',
    'packed-refs',
    'info/exclude',
    'info/attributes',
    'objects/info/alternates',
  ])('%s is named before Git is run', async (name) => {
    const repository = await createRepository()
    const path = join(repository.root, '.git', name)
    await replace(path)
    expect(await refusal(sourceCheckout(notRun, repository.root))).toEqual({
      code: 'invalid_source_repository',
      message: `Git cannot read the repository: ${path} is a named pipe, not a regular file.`,
    })
    await repository.remove()
  })

  it('is found where a file .git and a shared Git directory lead, below the checkout and behind a link', async () => {
    const repository = await createRepository()
    const { root, directory } = repository
    const linked = join(directory, 'linked')
    await repository.git(['worktree', 'add', '--quiet', '--detach', linked])
    await mkdir(join(linked, 'a/b'), { recursive: true })
    const config = join(root, '.git/config')
    await rename(config, join(directory, 'kept'))
    await symlink('/dev/zero', config)
    for (const place of [linked, join(linked, 'a/b'), join(root, '.git/refs')])
      expect(await refusal(checkGitFiles(place))).toEqual({
        code: 'invalid_source_repository',
        message: `Git cannot read the repository: ${config} is a device, not a regular file.`,
      })
    await rm(config)
    await symlink(join(directory, 'kept'), config)
    await checkGitFiles(join(linked, 'a/b'))
    const index = join(root, '.git/worktrees/linked/index')
    await replace(index)
    expect((await refusal(checkGitFiles(linked))).message).toContain(index)
    await checkGitFiles(root)
    await repository.remove()
  })

  it('is none that Git itself refuses, nor one of a directory that is no repository', async () => {
    const repository = await createRepository()
    const { root, directory } = repository
    await rm(join(root, '.git/index'))
    await mkdir(join(root, '.git/index'))
    await checkGitFiles(root)
    await mkdir(join(directory, 'none/.git'), { recursive: true })
    await replace(join(directory, 'none/.git/config'))
    await replace(join(directory, 'none/config'))
    await checkGitFiles(join(directory, 'none'))
    await repository.remove()
  })
})
