import { readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createRepository, listing } from '../src/index.ts'

describe.each(['sha1', 'sha256'] as const)('a %s repository', (objectFormat) => {
  it('has the commits that it is given, checked out, by any name', async () => {
    const repository = await createRepository({
      objectFormat,
      name: 'odd "name"\n',
      files: [
        { path: Buffer.from([0x61, 0xff, 0x0a]), content: 'bytes' },
        { path: 'link', content: 'target', kind: 'link' },
        { path: 'folder/run', content: '', kind: 'executable' },
      ],
    })
    const { root, git, head } = { ...repository, git: (args: readonly string[]) => repository.git(args) }
    expect(await git(['rev-parse', 'HEAD'])).toBe(head)
    expect(await git(['status', '--porcelain'])).toBe('')
    expect(await readlink(join(root, 'link'))).toBe('target')
    expect(await readdir(root, { encoding: 'buffer' })).toContainEqual(Buffer.from([0x61, 0xff, 0x0a]))
    const second = await repository.commit([{ path: 'second', content: '2' }])
    expect(await git(['rev-parse', 'HEAD~1', 'HEAD'])).toBe(`${head}\n${second}`)
    expect(await readFile(join(root, 'second'), 'utf8')).toBe('2')
    await repository.remove()
  })

  it('always has the same ids', async () => {
    const [one, other] = [await createRepository({ objectFormat }), await createRepository({ objectFormat })]
    expect(one.head).toBe(other.head)
    await one.remove()
    await other.remove()
  })
})

describe('a listing', () => {
  it('tells contents, modes and links', async () => {
    const repository = await createRepository({
      files: [
        { path: 'file', content: '' },
        { path: 'link', content: 'file', kind: 'link' },
      ],
    })
    const before = await listing(repository.root)
    expect(before).toContain('link 120777 -> file')
    await writeFile(join(repository.root, 'file'), 'changed')
    const changed = (await listing(repository.root)).filter((line) => !before.includes(line))
    expect(changed.map((line) => line.split(' ')[0])).toEqual(['file'])
    await repository.remove()
  })
})
