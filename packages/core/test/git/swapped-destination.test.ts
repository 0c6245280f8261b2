import { existsSync } from 'node:fs'
import { readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRepository, listing, type Repository } from '@codex-thread-bridge/test-fixtures'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addWorktree, checkOut, type Git, type Reservation, reserveDestination } from '../../src/git/index.ts'
import { failure, gitOf, sourceOf } from './support.ts'
import { swappedAway, swappingGit } from './swapping-git.ts'

let repository: Repository
let victim: Repository
let destination: string
let reservation: Reservation
beforeEach(async () => {
  repository = await createRepository({ files: [{ path: 'ours', content: 'ours' }] })
  victim = await createRepository()
  destination = join(repository.directory, 'launched')
  reservation = await reserveDestination(destination)
})
afterEach(async () => {
  await repository.remove()
  await victim.remove()
})

const moved = (): string => swappedAway(destination)

const swapping = (command: string, where: 'itself' | 'child'): Promise<Git> =>
  swappingGit(
    { directory: repository.directory, home: repository.home, destination, victim: victim.root },
    command,
    where,
  )

const add = (git: Git): Promise<void> =>
  addWorktree(git, {
    source: repository,
    destination: reservation,
    revision: repository.head,
    reason: 'a test',
  })

const fill = (git: Git): Promise<void> =>
  checkOut(git, { source: sourceOf(repository), destination: reservation, revision: repository.head })

// Where there is no way through an open directory, a swap is only seen afterwards.
describe.runIf(existsSync('/proc/self/fd'))('a destination that is swapped for another repository', () => {
  it('when the worktree is registered, leaves that as it is', async () => {
    const before = await listing(victim.directory)
    expect(await failure(add(await swapping('worktree add', 'itself')))).toMatchObject({
      code: 'destination_changed',
      next: 'inspect',
    })
    expect(await readdir(moved())).toEqual(['.git'])
    expect(await listing(victim.directory)).toEqual(before)
  })

  it('while the worktree is registered, leaves that as it is', async ({ skip }) => {
    const before = await listing(victim.directory)
    const error = await add(await swapping('update-ref', 'child')).catch((thrown: unknown) => thrown)
    if (!existsSync(moved())) skip('this Git sets HEAD itself, without a child to swap at')
    expect(error).toMatchObject({ code: 'destination_changed', next: 'inspect' })
    expect(await readdir(moved())).toEqual(['.git'])
    expect(await listing(victim.directory)).toEqual(before)
  })

  it('while its files are written, leaves that as it is', async () => {
    const before = await listing(victim.directory)
    await add(gitOf(repository))
    expect(await failure(fill(await swapping('read-tree', 'itself')))).toMatchObject({
      code: 'destination_changed',
      next: 'inspect',
    })
    expect((await readdir(moved())).sort()).toEqual(['.git', 'ours'])
    expect(await listing(victim.directory)).toEqual(before)
  })

  it('before its files are written, is not written to, nor is what it points to', async () => {
    await add(gitOf(repository))
    await rename(destination, moved())
    await symlink(victim.root, destination)
    const before = await listing(victim.directory)
    expect(await failure(fill(gitOf(repository)))).toMatchObject({ code: 'destination_changed' })
    expect(await listing(victim.directory)).toEqual(before)
    expect(await readdir(moved())).toEqual(['.git'])
  })

  it('whose link to the repository is replaced, still fills its own index', async () => {
    const before = await listing(victim.directory)
    await add(gitOf(repository))
    await rm(join(destination, '.git'))
    await writeFile(join(destination, '.git'), `gitdir: ${join(victim.root, '.git')}\n`)
    await fill(gitOf(repository))
    expect((await readdir(destination)).sort()).toEqual(['.git', 'ours'])
    expect(await listing(victim.directory)).toEqual(before)
  })
})
