import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The versions that `npm run test:clis` fetches; what is known of their output was recorded with them. */
export const cliPackages = {
  claude: { name: '@anthropic-ai/claude-code', version: '2.1.197' },
  opencode: { name: 'opencode-ai', version: '1.18.33' },
} as const

const inPackages = {
  claude: `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
  opencode: `opencode-${process.platform}-${process.arch}/bin/opencode`,
} as const

/** The native executable of a CLI from the folder CLI_TEST_CACHE, or why there is none that runs. */
export function cliBinary(
  cli: keyof typeof cliPackages,
): { readonly path: string } | { readonly missing: string } {
  const cache = process.env.CLI_TEST_CACHE
  if (!cache) return { missing: `${cli} is run by \`npm run test:clis\` only` }
  const path = join(cache, 'node_modules', inPackages[cli])
  if (!existsSync(path)) return { missing: `there is no ${path}` }
  try {
    const told = execFileSync(path, ['--version'], {
      encoding: 'utf8',
      timeout: 60_000,
      env: { HOME: cache },
    })
    const { version } = cliPackages[cli]
    return told.includes(version) ? { path } : { missing: `${cli} is ${told.trim()}, not ${version}` }
  } catch (error) {
    return { missing: `${cli} does not run here: ${error instanceof Error ? error.message : String(error)}` }
  }
}
