import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { cliPackages } from '@codex-thread-bridge/test-fixtures'
import { execa } from 'execa'

/** Runs the tests of jobs with the real Claude Code and OpenCode, fetched once into a cache outside the repository. */
const CACHE =
  process.env.CLI_TEST_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'codex-thread-bridge', 'clis')

const isThere = (name: string, version: string): boolean => {
  const manifest = join(CACHE, 'node_modules', name, 'package.json')
  return existsSync(manifest) && readFileSync(manifest, 'utf8').includes(`"version": "${version}"`)
}

const missing = Object.values(cliPackages).filter(({ name, version }) => !isThere(name, version))
if (missing.length > 0) {
  mkdirSync(CACHE, { recursive: true })
  const wanted = Object.values(cliPackages).map(({ name, version }) => `${name}@${version}`)
  console.log(`fetching ${wanted.join(' ')} into ${CACHE}`)
  // Their install scripts only put the binaries where we do not look for them.
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', CACHE]
  await execa('npm', ['install', ...flags, ...wanted], { stdio: 'inherit' })
}

const files = ['packages/jobs/test', 'apps/mcp-server/test/jobs']
  .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  .filter((file) => file.endsWith('.test.ts') && readFileSync(file, 'utf8').includes('cliBinary'))
const { exitCode } = await execa('vitest', ['run', ...files, ...process.argv.slice(2)], {
  preferLocal: true,
  stdio: 'inherit',
  reject: false,
  env: { CLI_TEST_CACHE: CACHE },
})
process.exitCode = exitCode ?? 1
