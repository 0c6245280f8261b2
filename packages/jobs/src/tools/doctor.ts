import { defineRead } from '@codex-thread-bridge/core/contract'
import { Type } from 'typebox'
import { askCli } from '../clis/ask-cli.ts'
import type { Cli } from '../clis/cli.ts'
import { clis } from '../clis/index.ts'
import { locateCli } from '../clis/locate.ts'
import type { Jobs } from '../jobs.ts'

const VERSION_MS = 20_000

const Found = Type.Object({
  configuredCommand: Type.String(),
  resolvedPath: Type.Union([Type.String(), Type.Null()]),
  available: Type.Boolean(),
  lookup: Type.Enum(['env', 'local', 'path'], { type: 'string' }),
  version: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
})

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** doctor (contract: jobs). */
export const doctor = (jobs: Jobs) =>
  defineRead({
    name: 'doctor',
    title: 'Check which CLI agents can be started',
    description:
      'Tells for each CLI (claude, codex, opencode, forge, antigravity) where it was looked for, whether it can be started, and its version, for which it is run with --version. It does not check logins or accepted terms: a CLI that is available may still fail with an auth error.',
    input: Type.Object({}, { additionalProperties: false }),
    output: Type.Object({
      claude: Found,
      codex: Found,
      opencode: Found,
      forge: Found,
      antigravity: Found,
      checks: Type.Object({
        binaryAvailability: Type.Boolean(),
        pathResolution: Type.Boolean(),
        versionRun: Type.Boolean(),
        loginState: Type.Boolean(),
        termsAcceptance: Type.Boolean(),
      }),
    }),
    uses: [],
    examples: [{ input: {}, answers: {} }],

    async run(ctx) {
      const examine = async (cli: Cli) => {
        const {
          fault,
          resolvedPath = null,
          ...looked
        } = locateCli(cli, jobs.options.env, jobs.options.homedir)
        const found = { ...looked, resolvedPath }
        if (fault !== undefined || resolvedPath === null)
          return { ...found, available: false, error: fault ?? 'it was not found' }
        try {
          const how = { timeoutMs: VERSION_MS, signal: ctx.signal }
          const told = await askCli(cli, resolvedPath, ['--version'], jobs.options, how)
          return { ...found, available: true, version: told.trim().split('\n')[0] ?? '' }
        } catch (error) {
          return { ...found, available: false, error: messageOf(error) }
        }
      }
      const [claude, codex, opencode, forge, antigravity] = await Promise.all([
        examine(clis.claude),
        examine(clis.codex),
        examine(clis.opencode),
        examine(clis.forge),
        examine(clis.antigravity),
      ])
      return { claude, codex, opencode, forge, antigravity, checks }
    },
  })

const checks = {
  binaryAvailability: true,
  pathResolution: true,
  versionRun: true,
  loginState: false,
  termsAcceptance: false,
}
