import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compatVersions, NEWEST_CODEX, OLDEST_CODEX } from '@codex-thread-bridge/test-fixtures'
import { execa } from 'execa'

/** Runs the real-server tests on every tested Codex version; those that npm ci does not bring are fetched into .compat. */
const CACHE = join(import.meta.dirname, '..', '.compat')
const BROUGHT_BY_NPM_CI = new Set([OLDEST_CODEX, NEWEST_CODEX])

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const versions = values.only?.split(',') ?? compatVersions

const fetch = async (version: string): Promise<void> => {
  const prefix = join(CACHE, version)
  if (existsSync(join(prefix, 'node_modules', '@openai', 'codex', 'package.json'))) return
  console.log(`fetching @openai/codex@${version}`)
  await execa('npm', ['install', '--no-audit', '--no-fund', '--prefix', prefix, `@openai/codex@${version}`])
}

/** The test files that run once for each tested version. */
const versioned = ['packages', 'apps']
  .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name, 'test')))
  .filter((folder) => existsSync(folder))
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .filter((file) => file.endsWith('.test.ts') && readFileSync(file, 'utf8').includes('testedVersions'))

for (const version of versions.filter((name) => !BROUGHT_BY_NPM_CI.has(name))) await fetch(version)
const { exitCode } = await execa('vitest', ['run', ...versioned], {
  preferLocal: true,
  stdio: 'inherit',
  reject: false,
  env: { CODEX_COMPAT_CACHE: CACHE, CODEX_TEST_VERSIONS: versions.join(',') },
})
process.exitCode = exitCode ?? 1
