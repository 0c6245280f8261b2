import { chmod, lstat, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRepository, listing, type Repository, tempDir } from '@codex-thread-bridge/test-fixtures'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  checkDestination,
  checkReservation,
  type Reservation,
  reserveDestination,
} from '../../src/git/index.ts'
import { asNobody, refusal } from './support.ts'

describe('a destination', () => {
  let repository: Repository
  let directory: string
  beforeAll(async () => {
    repository = await createRepository({ files: [{ path: 'folder/file', content: '' }] })
    directory = repository.directory
    const { root } = repository
    await repository.git(['worktree', 'add', '--quiet', join(directory, 'linked')])
    await repository.git(['clone', '--quiet', '--bare', root, join(directory, 'bare.git')])
    await repository.git([
      'init',
      '--quiet',
      `--separate-git-dir=${join(directory, 'apart')}`,
      join(directory, 'other'),
    ])
    await mkdir(join(directory, 'empty'))
    await writeFile(join(directory, 'file'), '')
    await symlink('missing', join(directory, 'dangling'))
    await symlink('empty', join(directory, 'link'))
    await mkdir(join(directory, 'broken', 'within'), { recursive: true })
    await mkdir(join(directory, 'sandboxed', '.git'), { recursive: true })
    await symlink('nowhere', join(directory, 'broken', '.git'))
  })
  afterAll(() => repository.remove())

  it.each([
    'new',
    'empty/new',
    'sandboxed/new',
    'with space',
    'new\nline',
    'caf\u00e9',
    'cafe\u0301',
    '-dash',
    '...',
    '\u{1F600}',
    '\u2028',
  ])('may be %j', async (name) => {
    await expect(checkDestination(join(directory, name))).resolves.toBeUndefined()
  })

  it.each([
    ['source', 'destination_exists', 'exists already'],
    ['empty', 'destination_exists', 'exists already'],
    ['file', 'destination_exists', 'exists already'],
    ['dangling', 'destination_exists', 'exists already'],
    ['link', 'destination_exists', 'exists already'],
    ['missing/new', 'invalid_destination', 'has no directory to be in'],
    ['file/new', 'invalid_destination', 'has no directory to be in'],
    ['dangling/new', 'invalid_destination', 'has no directory to be in'],
    ['link/new', 'invalid_destination', 'must be its real path'],
    ['new/', 'invalid_destination', 'must be its real path'],
    ['./new', 'invalid_destination', 'must be its real path'],
    ['empty/../new', 'invalid_destination', 'must be its real path'],
    ['empty//new', 'invalid_destination', 'must be its real path'],
    ['source/new', 'invalid_destination', 'lies in a Git repository'],
    ['source/folder/new', 'invalid_destination', 'lies in a Git repository'],
    ['source/.git/new', 'invalid_destination', 'lies in a Git repository'],
    ['source/.git/objects/new', 'invalid_destination', 'lies in a Git repository'],
    ['linked/new', 'invalid_destination', 'lies in a Git repository'],
    ['bare.git/new', 'invalid_destination', 'lies in a Git repository'],
    ['bare.git/refs/heads/new', 'invalid_destination', 'lies in a Git repository'],
    ['apart/new', 'invalid_destination', 'lies in a Git repository'],
    ['other/new', 'invalid_destination', 'lies in a Git repository'],
    ['broken/within/new', 'invalid_destination', 'lies in a Git repository'],
    ['nul\0', 'invalid_destination', 'is no path'],
    ['surrogate\ud800', 'invalid_destination', 'is no path'],
    ['x'.repeat(300), 'invalid_destination', '(ENAMETOOLONG)'],
  ])('may not be %j: %s, it %s', async (name, code, reason) => {
    const before = await listing(directory)
    const refused = await refusal(checkDestination(`${directory}/${name}`))
    expect(refused.code).toBe(code)
    expect(refused.message).toContain(reason)
    expect(await listing(directory)).toEqual(before)
  })

  it('may not be relative', async () => {
    expect((await refusal(checkDestination('new'))).message).toContain('must be an absolute path')
  })
})

describe('reserving a destination', () => {
  let directory: string
  let parent: string
  let path: string
  let remove: () => Promise<void>
  beforeEach(async () => {
    const folder = tempDir('rd')
    remove = () => folder.remove()
    directory = folder.path
    parent = join(directory, 'parent')
    path = join(parent, 'new')
    await mkdir(parent)
    await mkdir(join(directory, 'elsewhere'))
  })
  afterEach(() => remove())

  /** What stands where the parent was, and where it may lead. */
  const swapParent = async (): Promise<void> => {
    await rename(parent, join(directory, 'moved'))
    await symlink('elsewhere', parent)
  }

  it('makes a directory for the user alone, and knows it again', async () => {
    const reservation = await reserveDestination(path)
    const { mode, dev, ino } = await lstat(path)
    expect((mode & 0o777).toString(8)).toBe('700')
    expect(reservation).toEqual({ path, device: dev, inode: ino })
    await expect(checkReservation(reservation)).resolves.toBeUndefined()
  })

  it('is won by exactly one of many at once, and the others touch nothing', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => reserveDestination(path)))
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled')
    expect(won).toHaveLength(1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'destination_exists' })
    }
    await expect(checkReservation(won[0]?.value ?? never())).resolves.toBeUndefined()
  })

  it.each([
    ['a file', () => writeFile(path, 'kept')],
    ['a directory', () => mkdir(path)],
    ['a dangling link', () => symlink('nowhere', path)],
    ['a link to a directory', () => symlink('../elsewhere', path)],
  ])('leaves %s as it is', async (_, make) => {
    await make()
    const before = await listing(directory)
    expect((await refusal(reserveDestination(path))).code).toBe('destination_exists')
    expect(await listing(directory)).toEqual(before)
  })

  it('makes nothing where the parent was swapped for a link after it was checked', async () => {
    await checkDestination(path)
    await swapParent()
    const before = await listing(directory)
    expect((await refusal(reserveDestination(path))).code).toBe('invalid_destination')
    expect(await listing(directory)).toEqual(before)
  })

  it('makes nothing where a directory further up was swapped for a link', async () => {
    const deep = join(parent, 'inner', 'new')
    await mkdir(join(parent, 'inner'))
    await mkdir(join(directory, 'elsewhere', 'inner'))
    await checkDestination(deep)
    await swapParent()
    const before = await listing(directory)
    expect((await refusal(reserveDestination(deep))).code).toBe('invalid_destination')
    expect(await listing(directory)).toEqual(before)
  })

  it('makes nothing where the parent is gone', async () => {
    await rm(parent, { recursive: true })
    const { code, message } = await refusal(reserveDestination(path))
    expect(code).toBe('invalid_destination')
    expect(message).toContain('has no directory to be in (ENOENT)')
  })

  // Elsewhere nothing holds the parent while the directory is made: it is found out, and left.
  it.runIf(process.platform === 'linux')(
    'never ends in another place while the parent is swapped again and again',
    async () => {
      let going = true
      const swapping = (async () => {
        while (going) {
          await swapParent()
          await rm(parent)
          await rename(join(directory, 'moved'), parent)
        }
      })()
      const reservations: Reservation[] = []
      for (let round = 0; round < 200; round += 1) {
        await reserveDestination(join(parent, `new-${String(round)}`)).then(
          (reservation) => reservations.push(reservation),
          () => undefined,
        )
      }
      going = false
      await swapping
      expect(await readdir(join(directory, 'elsewhere'))).toEqual([])
      expect((await readdir(parent)).sort()).toEqual(
        reservations.map(({ path }) => path.replace(`${parent}/`, '')).sort(),
      )
      for (const reservation of reservations) await checkReservation(reservation)
    },
  )

  it('says that a read-only parent lets nothing be made', async () => {
    await chmod(directory, 0o755)
    await chmod(parent, 0o555)
    const { code, message } = await asNobody(() => refusal(reserveDestination(path)))
    expect(code).toBe('invalid_destination')
    expect(message).toContain('cannot be made (EACCES)')
    expect(await readdir(parent)).toEqual([])
  })

  it('is found out when what was made is no longer there, or no longer ours', async () => {
    const reservation = await reserveDestination(path)
    await rename(path, join(parent, 'moved'))
    expect((await refusal(checkReservation(reservation))).code).toBe('destination_changed')
    await mkdir(path)
    expect((await refusal(checkReservation(reservation))).code).toBe('destination_changed')
    await rm(path, { recursive: true })
    await symlink('moved', path)
    expect((await refusal(checkReservation(reservation))).code).toBe('destination_changed')
    await rm(path)
    await rename(join(parent, 'moved'), path)
    await expect(checkReservation(reservation)).resolves.toBeUndefined()
    await swapParent()
    expect((await refusal(checkReservation(reservation))).code).toBe('destination_changed')
  })
})

const never = (): never => {
  throw new Error('nobody won')
}
