import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

export const OLDEST_CODEX = '0.153.4'
export const NEWEST_CODEX = '0.171.0'
/** A version that npm installed for the tests, or one that lies in the folder CODEX_COMPAT_CACHE. */
export type CodexVersion = string

/** Every version that the real-server tests run with, oldest first: `npm test` and `npm run test:compat` together. */
export const compatVersions: readonly CodexVersion[] = [OLDEST_CODEX, '0.154.0', '0.163.0', NEWEST_CODEX]

/** What real-server tests run with now: the oldest and the newest, or those that CODEX_TEST_VERSIONS names, with commas. */
export const testedVersions: readonly CodexVersion[] = process.env.CODEX_TEST_VERSIONS?.split(',') ?? [
  OLDEST_CODEX,
  NEWEST_CODEX,
]

const installedAs: ReadonlyMap<string, string> = new Map([
  [OLDEST_CODEX, 'codex-0-153'],
  [NEWEST_CODEX, '@openai/codex'],
])
const Manifest = Compile(Type.Object({ version: Type.String() }))

/**
 * The native codex executable, not its JavaScript launcher: a signal to it reaches the server itself.
 * Tested versions come from node_modules, others from $CODEX_COMPAT_CACHE/<version>/node_modules. Throws if absent.
 */
export function codexBinary(version: CodexVersion): string {
  const manifest = installedManifest(version) ?? cachedManifest(version)
  const require = createRequire(manifest)
  const found = Manifest.Parse(require(manifest)).version
  if (found !== version) throw new Error(`codex ${version} expected, ${found} found at ${manifest}`)
  const platformPackage = `@openai/codex-${process.platform}-${process.arch}`
  const vendor = join(dirname(require.resolve(`${platformPackage}/package.json`)), 'vendor')
  const binary = readdirSync(vendor)
    .map((target) => join(vendor, target, 'bin', 'codex'))
    .find((path) => existsSync(path))
  if (binary === undefined) throw new Error(`no codex executable below ${vendor}`)
  return binary
}

function installedManifest(version: string): string | undefined {
  const name = installedAs.get(version)
  return name && createRequire(import.meta.url).resolve(`${name}/package.json`)
}

function cachedManifest(version: string): string {
  const cache = process.env.CODEX_COMPAT_CACHE
  const install = `npm install --prefix <cache>/${version} @openai/codex@${version}`
  if (!cache)
    throw new Error(`codex ${version} is not installed: set CODEX_COMPAT_CACHE=<cache>, then ${install}`)
  const manifest = join(cache, version, 'node_modules', '@openai', 'codex', 'package.json')
  if (!existsSync(manifest)) throw new Error(`no codex ${version} at ${manifest}: ${install}`)
  return manifest
}
