import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createHostileRepository,
  type HooksPlace,
  type HostileRepository,
  plainGit,
  tryPlainGit,
} from '@codex-thread-bridge/test-fixtures'
import { afterEach, describe, expect, it } from 'vitest'
import {
  addWorktree,
  checkOut,
  type Git,
  inspectWorktree,
  registeredWorktree,
  reserveDestination,
} from '../../src/git/index.ts'
import { gitOf, launch, refusal, sourceOf } from './support.ts'

describe('a hostile repository', () => {
  let hostile: HostileRepository
  let git: Git
  let destination: string
  const meet = async (hooks: HooksPlace): Promise<void> => {
    hostile = await createHostileRepository(hooks)
    git = gitOf(hostile)
    destination = join(hostile.directory, 'launched')
  }
  afterEach(() => hostile.remove())

  it.each(['directory', 'local', 'global'] as const)(
    'runs nothing while a worktree is made, looked at, changed and looked at again (hooks: %s)',
    async (hooks) => {
      await meet(hooks)
      await launch(git, hostile.root, hostile.head, destination)
      expect(await inspectWorktree(git, destination)).toMatchObject({
        head: hostile.head,
        clean: true,
        dirty: [],
      })
      expect(await registeredWorktree(git, { root: hostile.root }, destination)).toMatchObject({
        locked: true,
      })
      for (const file of ['plain.txt', 'conditional.txt', 'in-worktree.txt', 'process.txt']) {
        await writeFile(join(destination, file), `${file}\n`)
      }
      expect(await inspectWorktree(git, destination)).toMatchObject({ clean: true })
      await writeFile(join(destination, 'conditional.txt'), 'changed\n')
      expect(await inspectWorktree(git, destination)).toMatchObject({
        clean: false,
        dirty: ['conditional.txt'],
      })
      expect(await hostile.marks()).toEqual([])
    },
  )

  it('runs nothing and fetches nothing when a file is owed by a promisor', async () => {
    await meet('directory')
    const reservation = await reserveDestination(destination)
    const { root, owed } = hostile
    await addWorktree(git, {
      source: sourceOf({ root }),
      destination: reservation,
      revision: owed,
      reason: 'a test',
    })
    const { code, message } = await refusal(
      checkOut(git, { source: sourceOf({ root }), destination: reservation, revision: owed }),
    )
    expect(code).toBe('git_failed')
    expect(message).toMatch(/^git read-tree failed/)
    expect(await hostile.marks()).toEqual([])
  })

  it('is kept from fetching by either barrier alone: a Git before 2.39.4 knows only the second', async () => {
    await meet('directory')
    const { root: cwd, home, owed } = hostile
    const blob = await plainGit(['rev-parse', `${owed}:owed.txt`], { cwd, home })
    for (const env of [{ GIT_NO_LAZY_FETCH: '1' }, { GIT_ALLOW_PROTOCOL: 'none' }]) {
      // By its own words, or by SIGPIPE when what was to fetch for it has gone first.
      expect((await tryPlainGit(['cat-file', '-p', blob], { cwd, home, env })).exitCode).not.toBe(0)
    }
    expect(await hostile.marks()).not.toContain('promisor.fetch')
    await tryPlainGit(['cat-file', '-p', blob], { cwd, home })
    expect(await hostile.marks()).toContain('promisor.fetch')
  })

  it('runs nothing whatever the command is', async () => {
    await meet('directory')
    for (const { args, cwd, input } of hostile.springs) {
      const options = { cwd, ...(input !== undefined && { input: Buffer.from(input) }) }
      await git.run(args, options).catch(() => undefined)
    }
    expect(await hostile.marks()).toEqual([])
  })
})
