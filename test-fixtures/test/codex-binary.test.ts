import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { codexBinary, tempDir, testedVersions } from '../src/index.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

describe.each(testedVersions)('codex %s', (version) => {
  it('is an executable of exactly that version', async () => {
    const { stdout } = await execa(codexBinary(version), ['--version'])
    expect(stdout).toBe(`codex-cli ${version}`)
  })
})

describe('another version', () => {
  it('is refused with the way to install it when no cache is configured', () => {
    vi.stubEnv('CODEX_COMPAT_CACHE', undefined)
    expect(() => codexBinary('0.160.0')).toThrow(
      'codex 0.160.0 is not installed: set CODEX_COMPAT_CACHE=<cache>, then npm install --prefix <cache>/0.160.0 @openai/codex@0.160.0',
    )
  })

  it('is refused with the place where it was looked for when the cache has none', async () => {
    const cache = tempDir('cache')
    vi.stubEnv('CODEX_COMPAT_CACHE', cache.path)
    expect(() => codexBinary('0.160.0')).toThrow(
      `no codex 0.160.0 at ${cache.path}/0.160.0/node_modules/@openai/codex/package.json`,
    )
    await cache.remove()
  })

  it('is found in the cache, beside or below the package that launches it', async () => {
    const cache = tempDir('cache')
    vi.stubEnv('CODEX_COMPAT_CACHE', cache.path)
    const scope = join(cache.path, '0.160.0', 'node_modules', '@openai')
    const bin = join(scope, `codex-${process.platform}-${process.arch}`, 'vendor', 'some-target', 'bin')
    mkdirSync(join(scope, 'codex'), { recursive: true })
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(scope, 'codex', 'package.json'), '{"version":"0.160.0"}')
    writeFileSync(join(bin, '..', '..', '..', 'package.json'), '{}')
    writeFileSync(join(bin, 'codex'), '')
    expect(codexBinary('0.160.0')).toBe(join(bin, 'codex'))
    await cache.remove()
  })
})
