import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createGit } from '@codex-thread-bridge/core/git'
import { createRepository, type Repository } from '@codex-thread-bridge/test-fixtures'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changesToCarry } from '../src/git/carry.ts'

const git = createGit({ timeoutMs: 30_000 })

describe('a checkout with submodules', () => {
  let repository: Repository
  let inner: Repository
  let innermost: Repository

  const addSubmodule = async (to: Repository, from: Repository, name: string) => {
    await to.git(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', from.root, name])
    await to.git(['commit', '--quiet', '-m', 'Add a submodule'])
  }
  beforeEach(async () => {
    const files = [{ path: 'file.txt', content: 'old\n' }]
    ;[repository, inner, innermost] = [
      await createRepository({ files }),
      await createRepository({ files }),
      await createRepository({ files }),
    ]
    await addSubmodule(inner, innermost, 'deep')
    await addSubmodule(repository, inner, 'sub')
  })
  afterEach(async () => {
    for (const each of [repository, inner, innermost]) await each.remove()
  })

  const at = (path: string) => join(repository.root, path)
  const refused = (path: string) => ({
    code: 'uncarried_changes',
    message: `${path} is a submodule with changes, which cannot be carried.`,
    details: { path },
  })

  it('has nothing to refuse while they are clean or not there', async () => {
    await writeFile(at('file.txt'), 'new\n')
    expect(await changesToCarry(git, repository.root)).toMatchObject({ unstaged: [{ mode: '100644' }] })
    await repository.git(['submodule', '--quiet', 'deinit', '--all'])
    expect(await changesToCarry(git, repository.root)).toMatchObject({ unstaged: [{ mode: '100644' }] })
  })

  it('is refused for a changed, staged or untracked file in one', async () => {
    await writeFile(at('sub/file.txt'), 'new\n')
    await expect(changesToCarry(git, repository.root)).rejects.toMatchObject(refused('sub'))
    await repository.git(['add', 'file.txt'], at('sub'))
    await expect(changesToCarry(git, repository.root)).rejects.toMatchObject(refused('sub'))
    await repository.git(['reset', '--quiet', '--hard'], at('sub'))
    await writeFile(at('sub/new'), 'new\n')
    await expect(changesToCarry(git, repository.root)).rejects.toMatchObject(refused('sub'))
  })

  it('is refused for one in a submodule of a submodule', async () => {
    const init = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init']
    await repository.git(init, at('sub'))
    await changesToCarry(git, repository.root)
    await writeFile(at('sub/deep/new'), 'new\n')
    await expect(changesToCarry(git, repository.root)).rejects.toMatchObject(refused('sub/deep'))
    await rm(at('sub/deep/new'))
    await writeFile(at('sub/deep/file.txt'), 'new\n')
    await expect(changesToCarry(git, repository.root)).rejects.toMatchObject(refused('sub/deep'))
  })

  it('is looked at without the settings of a submodule', async () => {
    const ran = at('ran')
    await writeFile(at('sub/.gitattributes'), '* filter=own\n')
    await repository.git(['config', 'filter.own.clean', `touch ${ran}; cat`], at('sub'))
    await repository.git(['config', 'core.fsmonitor', `touch ${ran}; false`], at('sub'))
    await writeFile(at('sub/file.txt'), 'new\n')
    await expect(changesToCarry(git, repository.root)).rejects.toMatchObject(refused('sub'))
    await rm(at('sub/.gitattributes'))
    expect(await repository.git(['ls-files', '--others'])).not.toContain('ran')
  })
})
