import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRepository, poll, type Repository } from '@codex-thread-bridge/test-fixtures'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addWorktree, inspectWorktree, registeredWorktree, reserveDestination } from '../../src/git/index.ts'
import { failure, gitOf } from './support.ts'

let repository: Repository
let record: string
beforeEach(async () => {
  repository = await createRepository()
  record = join(repository.root, '.git', 'worktrees', 'another')
  await mkdir(record, { recursive: true })
  await writeFile(join(record, 'gitdir'), `${join(repository.directory, 'another', '.git')}\n`)
  await writeFile(join(record, 'HEAD'), `${'0'.repeat(40)}\n`)
  await writeFile(join(record, 'commondir'), '')
})
afterEach(() => repository.remove())

/** Another `git worktree add` writes its record to the end once ours has met it. */
const written = async (): Promise<void> => {
  await writeFile(join(record, 'HEAD'), `${repository.head}\n`)
  await writeFile(join(record, 'commondir'), '../..\n')
}

/** Plain Git, begun later than ours, has given up on the record. */
const metIt = async (): Promise<void> => {
  await poll(
    () =>
      repository.git(['worktree', 'list']).then(
        () => false,
        () => true,
      ),
    {
      what: 'Git to give up on the record',
    },
  )
}

describe('the half-written record of another worktree', () => {
  it('is waited for by a look', async () => {
    const looked = registeredWorktree(gitOf(repository), repository, join(repository.directory, 'another'))
    await metIt()
    await written()
    expect(await looked).toMatchObject({ head: repository.head, locked: false })
  })

  it('is waited for by a new worktree', async () => {
    const destination = await reserveDestination(join(repository.directory, 'launched'))
    const git = gitOf(repository)
    const { head: revision } = repository
    const made = addWorktree(git, { source: repository, destination, revision, reason: 'a test' })
    await metIt()
    await written()
    await made
    expect(await inspectWorktree(git, destination.path)).toMatchObject({ head: revision, locked: true })
  })

  it('that stays half-written is told with Git’s own words', async () => {
    const looked = registeredWorktree(gitOf(repository), repository, join(repository.directory, 'another'))
    const error = await failure(looked)
    expect(error.code).toBe('git_failed')
    expect(error.message).toContain('failed to read')
    expect(error.message).toContain('another/commondir')
  })
})
