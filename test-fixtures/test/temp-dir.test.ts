import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { tempDir } from '../src/index.ts'

describe('a temporary directory', () => {
  let around: string
  beforeEach(() => {
    around = mkdtempSync(join(realpathSync('/var/tmp'), 'td-'))
    mkdirSync(join(around, 'in'))
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await rm(around, { recursive: true })
  })

  /** Where a directory is made when TMPDIR is this one. */
  const madeFor = async (temporary: string): Promise<string> => {
    vi.stubEnv('TMPDIR', temporary)
    const made = tempDir('td')
    await made.remove()
    expect(existsSync(made.path)).toBe(false)
    return dirname(made.path)
  }

  it('is in TMPDIR', async () => {
    expect(await madeFor(join(around, 'in'))).toBe(join(around, 'in'))
  })

  it.each([
    ['a checkout', () => execa('git', ['init', '--quiet', around])],
    ['a bare repository', () => execa('git', ['init', '--quiet', '--bare', around])],
    ['a linked worktree', async () => writeFileSync(join(around, '.git'), 'gitdir: /elsewhere\n')],
    ['what had been a checkout', async () => symlinkSync('nowhere', join(around, '.git'))],
  ])('is not in TMPDIR when that lies in %s, also by a link', async (_, make) => {
    await Promise.resolve(make())
    const link = `${around}-link`
    symlinkSync(join(around, 'in'), link)
    expect(await madeFor(join(around, 'in'))).not.toContain(around)
    expect(await madeFor(link)).not.toContain(around)
    await rm(link)
  })

  it('leaves another directory in its place alone', async () => {
    vi.stubEnv('TMPDIR', join(around, 'in'))
    const made = tempDir('td')
    const { path } = made
    renameSync(path, `${path}-moved`)
    mkdirSync(path)
    await made.remove()
    expect(existsSync(path)).toBe(true)
    expect(existsSync(`${path}-moved`)).toBe(true)
  })
})
