import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tempDir, type TempDir } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { realPathOf } from '../../src/policy/real-path.ts'

describe('where a path leads', () => {
  let folder: TempDir
  let root: string
  beforeAll(async () => {
    folder = tempDir('rp')
    root = await realpath(folder.path)
    await mkdir(join(root, 'inside'))
    await mkdir(join(root, 'outside'))
    await symlink('../outside', join(root, 'inside', 'out'))
    await symlink('missing', join(root, 'inside', 'dangling'))
    await writeFile(join(root, 'inside', 'file'), '')
  })
  afterAll(() => folder.remove())

  it.each([
    ['inside', 'inside'],
    ['inside/', 'inside'],
    ['inside/../outside', 'outside'],
    ['inside/out', 'outside'],
    ['inside/new', 'inside/new'],
    ['inside/new/deeper', 'inside/new/deeper'],
    ['inside/out/new', 'outside/new'],
    ['inside/out/..', ''],
  ])('%s is %s', async (path, real) => {
    expect(await realPathOf(`${root}/${path}`)).toBe(join(root, real).replace(/\/$/, ''))
  })

  it.each(['inside/dangling', 'inside/dangling/new', 'inside/file/new', 'inside/new/../../outside'])(
    'of %s cannot be told',
    async (path) => {
      expect(await realPathOf(`${root}/${path}`)).toBeUndefined()
    },
  )

  it('cannot be told of a relative path', async () => {
    expect(await realPathOf('src')).toBeUndefined()
  })
})
