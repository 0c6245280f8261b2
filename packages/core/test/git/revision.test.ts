import {
  createRepository,
  createHostileRepository,
  listing,
  type Repository,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Git, localCommit, type SourceCheckout, sourceCheckout } from '../../src/git/index.ts'
import { gitOf, refusal } from './support.ts'

describe.each([
  ['sha1', 40],
  ['sha256', 64],
] as const)('a revision of a %s repository', (objectFormat, length) => {
  let repository: Repository
  let git: Git
  let source: SourceCheckout
  beforeAll(async () => {
    repository = await createRepository({ objectFormat })
    git = gitOf(repository)
    source = await sourceCheckout(git, repository.root)
    await repository.git(['tag', '-a', '-m', 'A tag', 'v1'])
    // A branch whose name looks like an id must not stand for one.
    await repository.git(['update-ref', `refs/heads/${'a'.repeat(length)}`, repository.head])
  })
  afterAll(() => repository.remove())

  it('is the full id of a commit', async () => {
    expect(repository.head).toHaveLength(length)
    expect(await localCommit(git, source, repository.head)).toBe(repository.head)
  })

  it.each(['HEAD', 'main', 'v1', 'HEAD~0', '', '--all', '@{-1}', '^HEAD'])('is not %j', async (revision) => {
    const { code, message } = await refusal(localCommit(git, source, revision))
    expect(code).toBe('unknown_revision')
    expect(message).toContain(`must be a full commit id, ${String(length)} lowercase hexadecimal digits`)
  })

  it.each([
    ['abbreviated', (head: string) => head.slice(0, -1)],
    ['in capitals', (head: string) => head.toUpperCase()],
    ['of the other format', (head: string) => (head + head).slice(0, length === 40 ? 64 : 40)],
    ['with a suffix', (head: string) => `${head}^0`],
    ['with white space', (head: string) => `${head}\n`],
  ])('is not an id %s', async (_, change) => {
    expect((await refusal(localCommit(git, source, change(repository.head)))).code).toBe('unknown_revision')
  })

  it.each(['HEAD^{tree}', 'HEAD:read me.txt', 'v1'])('is not the id of %s', async (name) => {
    const before = await listing(repository.directory)
    const id = await repository.git(['rev-parse', name])
    const { code, message } = await refusal(localCommit(git, source, id))
    expect(code).toBe('unknown_revision')
    expect(message).toBe(`The revision is not the id of a commit that this repository has locally: ${id}`)
    expect(await listing(repository.directory)).toEqual(before)
  })

  it.each(['0', 'a', 'f'])('is not an id of which there is no object (%s…)', async (digit) => {
    const id = digit.repeat(length)
    expect((await refusal(localCommit(git, source, id))).code).toBe('unknown_revision')
  })
})

describe('a revision of a repository with replacements and lenders', () => {
  it('is the commit itself, whatever replaces it', async () => {
    const repository = await createRepository()
    const git = gitOf(repository)
    const source = await sourceCheckout(git, repository.root)
    const tree = await repository.git(['rev-parse', 'HEAD^{tree}'])
    await repository.git(['replace', '-f', tree, repository.head])
    expect((await refusal(localCommit(git, source, tree))).code).toBe('unknown_revision')
    await repository.remove()
  })

  it('may lie in an alternate, and is not fetched from a promisor', async () => {
    const hostile = await createHostileRepository('directory')
    const git = gitOf(hostile)
    const source = await sourceCheckout(git, hostile.root)
    const before = await listing(hostile.root)
    expect(await localCommit(git, source, hostile.lent)).toBe(hostile.lent)
    expect((await refusal(localCommit(git, source, 'b'.repeat(40)))).code).toBe('unknown_revision')
    const { code, message } = await refusal(localCommit(git, source, hostile.owed))
    expect(code).toBe('unknown_revision')
    expect(message).toBe(`The revision lacks objects that a promisor remote still owes (1): ${hostile.owed}`)
    expect(await listing(hostile.root)).toEqual(before)
    expect(await hostile.marks()).toEqual([])
    await hostile.remove()
  })
})
