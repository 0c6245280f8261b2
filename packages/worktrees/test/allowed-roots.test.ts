import { cp, mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createRepository,
  listing,
  NEWEST_CODEX,
  startWorld,
  type Repository,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchOf, startLauncher } from './launch.ts'

interface Place {
  readonly repository: Repository
  readonly allowed: string
  /** The source, in the allowed root; its `.git` does not stand there yet. */
  readonly source: string
}

/** What makes Git work outside the allowed root, by the directory that the refusal names. */
const escapes: readonly (readonly [string, (place: Place) => Promise<string>])[] = [
  [
    'whose .git is a symbolic link',
    async ({ repository, source }) => {
      const outside = join(repository.root, '.git')
      await symlink(outside, join(source, '.git'))
      return outside
    },
  ],
  [
    'whose .git is a file that names another directory',
    async ({ repository, source }) => {
      const outside = join(repository.root, '.git')
      await writeFile(join(source, '.git'), `gitdir: ${outside}\n`)
      return outside
    },
  ],
  [
    'with a Git directory of its own that shares another repository’s',
    async ({ repository, source }) => {
      const outside = join(repository.root, '.git')
      const own = join(source, '.git')
      await mkdir(own)
      await writeFile(join(own, 'HEAD'), `${repository.head}\n`)
      await writeFile(join(own, 'commondir'), `${outside}\n`)
      return outside
    },
  ],
  ...(['objects', 'refs', 'worktrees'] as const).map(
    (part) =>
      [
        `whose ${part} are elsewhere`,
        async ({ repository, source }: Place) => {
          const own = join(source, '.git')
          await cp(join(repository.root, '.git'), own, { recursive: true })
          const outside = join(repository.directory, part)
          await (part === 'worktrees' ? mkdir(outside) : rename(join(own, part), outside))
          await symlink(outside, join(own, part))
          return join(own, part)
        },
      ] as const,
  ),
]

describe('a source within --allow-root', () => {
  let world: World
  let repository: Repository
  let allowed: string
  beforeAll(async () => {
    world = await startWorld({ version: NEWEST_CODEX })
  })
  beforeEach(async () => {
    repository = await createRepository()
    allowed = join(repository.directory, 'allowed')
    await mkdir(join(allowed, 'source'), { recursive: true })
  })
  afterEach(() => repository.remove())
  afterAll(() => world?.close())

  const launch = async (allowRoots: readonly string[], more: object) => {
    const bridge = await startLauncher({ socketPath: world.socketPath, ceiling: { allowRoots } })
    const args = launchOf(repository, { destination: join(allowed, 'there'), ...more })
    try {
      const answer: unknown = await bridge
        .call('create_worktree_thread', args)
        .catch((error: unknown) => error)
      const receipt: unknown = await bridge.receipt(args.request_id).catch((error: unknown) => error)
      return { answer, receipt }
    } finally {
      await bridge.close()
    }
  }

  it.each(escapes)('%s outside is refused, and nothing is made', async (_, prepare) => {
    const source = join(allowed, 'source')
    const outside = await prepare({ repository, allowed, source })
    const before = await listing(repository.directory)
    const { answer, receipt } = await launch([allowed], { source_repository: source })
    expect(answer).toMatchObject({
      code: 'ceiling_exceeded',
      next: 'fix_call',
      message: `Git in ${source} would work in ${outside}: this bridge works only in ${allowed} (--allow-root).`,
    })
    expect(receipt).toMatchObject({ code: 'unknown_request' })
    expect(await listing(repository.directory)).toEqual(before)
    expect(world.proxy.sent('thread/start')).toEqual([])
  })

  it('that is a worktree of a repository outside is refused, of one in a root launched', async () => {
    const linked = join(allowed, 'linked')
    await repository.git(['worktree', 'add', '--quiet', '--detach', linked])
    const refused = await launch([allowed], { source_repository: linked })
    expect(refused.answer).toMatchObject({
      code: 'ceiling_exceeded',
      message: `Git in ${linked} would work in ${join(repository.root, '.git/worktrees/linked')}: this bridge works only in ${allowed} (--allow-root).`,
    })
    const { answer } = await launch([allowed, repository.root], { source_repository: linked })
    expect(answer).toMatchObject({ status: 'accepted', phase: 'complete' })
  })

  it.each([
    ['source_repository', 'invalid_source_repository'],
    ['destination', 'invalid_destination'],
  ] as const)('does not judge a relative %s: it must be absolute', async (field, code) => {
    const { answer } = await launch([allowed], { [field]: 'there' })
    expect(answer).toMatchObject({ code, field, message: `\`${field}\` must be an absolute path: there` })
  })
})
