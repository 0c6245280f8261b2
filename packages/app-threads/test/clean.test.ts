import { readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createGit } from '@codex-thread-bridge/core/git'
import { createRepository, type Repository, tempDir, type TempDir } from '@codex-thread-bridge/test-fixtures'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { carryChanges } from '../src/git/carry.ts'
import { cleanChanges } from '../src/git/clean.ts'

const git = createGit({ timeoutMs: 30_000 })
const LONG_AGO = new Date('2020-01-01T00:00:00Z')

describe('taking carried changes out of their checkout', () => {
  let repository: Repository
  let folder: TempDir
  let to: string

  beforeEach(async () => {
    repository = await createRepository({
      files: [
        { path: 'kept.txt', content: 'kept\n' },
        { path: 'deleted.txt', content: 'old\n' },
        { path: 'lines.txt', content: 'one\ntwo\n' },
      ],
    })
    folder = tempDir('wt')
    to = join(folder.path, 'worktree')
  })
  afterEach(async () => {
    await repository.remove()
    await folder.remove()
  })

  const at = (path: string) => join(repository.root, path)
  const status = () => repository.git(['status', '--porcelain', '--untracked-files=all'])
  const paths = () => ({ from: repository.root, to })
  const carry = async () => {
    await repository.git(['worktree', 'add', '--quiet', '--detach', to, 'HEAD'])
    await carryChanges(git, paths())
  }
  /** Old enough for Git to trust what it knows of the file. */
  const settle = async (...names: readonly string[]) => {
    for (const name of names) await utimes(at(name), LONG_AGO, LONG_AGO)
    await repository.git(['update-index', '--refresh'])
  }
  const filter = async () => {
    await repository.git(['config', 'filter.stored.clean', 'sed s/real-content/pointer/'])
    await repository.git(['config', 'filter.stored.smudge', 'sed s/pointer/real-content/'])
    await writeFile(at('.gitattributes'), '*.bin filter=stored\n')
    await writeFile(at('a.bin'), 'real-content\n')
    await repository.git(['add', '.gitattributes', 'a.bin'])
    await repository.git(['commit', '--quiet', '-m', 'Stored'])
    await settle('a.bin')
  }

  it('leaves a clean checkout where a file comes back with other line ends', async () => {
    await repository.git(['config', 'core.autocrlf', 'true'])
    await settle('lines.txt')
    await writeFile(at('lines.txt'), 'one\r\ntwo\r\nthree\r\n')
    await carry()
    await cleanChanges(git, paths())
    expect(await status()).toBe('')
    expect(await readFile(at('lines.txt'), 'utf8')).toBe('one\r\ntwo\r\n')
  })

  it('leaves a changed file that a filter rewrites as it is stored', async () => {
    await filter()
    await writeFile(at('a.bin'), 'real-content and more\n')
    await carry()
    await cleanChanges(git, paths())
    expect(await readFile(at('a.bin'), 'utf8')).toBe('pointer\n')
    expect(await status()).toBe('')
  })

  it('goes on where files were restored with another size and the index was not written', async () => {
    await filter()
    await writeFile(at('a.bin'), 'real-content and more\n')
    await carry()
    const stop = {
      ...git,
      run: (args: readonly string[], options: Parameters<typeof git.run>[1]) =>
        args[0] === 'checkout-index'
          ? writeFile(at('a.bin'), 'pointer\n').then(() => Promise.reject(new Error('cut off')))
          : git.run(args, options),
    }
    await expect(cleanChanges(stop, paths())).rejects.toThrow('cut off')
    await cleanChanges(git, paths())
    expect(await status()).toBe('')
  })

  it('drops a file that was announced without content, also when it is gone already', async () => {
    await writeFile(at('announced.txt'), 'later\n')
    await writeFile(at('gone.txt'), 'later\n')
    await repository.git(['add', '--intent-to-add', 'announced.txt', 'gone.txt'])
    await rm(at('deleted.txt'))
    await carry()
    await rm(at('gone.txt'))
    await cleanChanges(git, paths())
    expect(await status()).toBe('')
    expect(await repository.git(['ls-files'])).not.toContain('gone.txt')
    expect(await readFile(at('deleted.txt'), 'utf8')).toBe('old\n')
    await expect(readFile(at('gone.txt'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('takes nothing along of an announced file that is gone', async () => {
    await writeFile(at('gone.txt'), 'later\n')
    await repository.git(['add', '--intent-to-add', 'gone.txt'])
    await rm(at('gone.txt'))
    await carry()
    expect(await repository.git(['status', '--porcelain'], to)).toBe('')
    await cleanChanges(git, paths())
    expect(await status()).toBe('')
  })
})
