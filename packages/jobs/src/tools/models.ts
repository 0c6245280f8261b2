import { defineRead } from '@codex-thread-bridge/core/contract'
import { Type } from 'typebox'
import { askCli } from '../clis/ask-cli.ts'
import { clis } from '../clis/index.ts'
import { locateCli } from '../clis/locate.ts'
import { aliases } from '../clis/route.ts'
import type { Jobs } from '../jobs.ts'

const ASK_MS = 40_000
const MOST = 500

const Source = Type.Enum(['static', 'cli'], { type: 'string' })

/** models (contract: jobs). */
export const models = (jobs: Jobs) =>
  defineRead({
    name: 'models',
    title: 'List the models that jobs can use',
    description:
      'Lists what run takes as model: aliases (a model with an effort), the names that each CLI is known to have, and the patterns beyond them (gpt-*, claude-*, oc-PROVIDER/MODEL). source static: written down in this version; source cli: asked from the CLI now, which ask: true does for OpenCode (it may take half a minute). A name that is not listed may still fit a pattern; whether the provider has it shows when the job runs.',
    input: Type.Object(
      {
        ask: Type.Optional(
          Type.Boolean({ description: 'true: ask OpenCode for its models (default false)' }),
        ),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({
      aliases: Type.Array(
        Type.Object({
          name: Type.String(),
          agent: Type.String(),
          model: Type.String(),
          reasoning_effort: Type.String(),
        }),
      ),
      agents: Type.Array(
        Type.Object({
          agent: Type.String(),
          models: Type.Array(Type.String()),
          patterns: Type.Array(Type.String()),
          reasoning_efforts: Type.Array(Type.String()),
          source: Source,
          error: Type.Optional(Type.String()),
        }),
      ),
    }),
    uses: [],
    examples: [{ input: {}, answers: {} }],

    async run(ctx, { ask = false }) {
      const asked = ask ? await askOpencode(jobs, ctx.signal) : undefined
      return {
        aliases: Object.entries(aliases).map(([name, { agent, model, effort }]) => ({
          name,
          agent,
          model,
          reasoning_effort: effort,
        })),
        agents: Object.values(clis).map((cli) => ({
          agent: cli.agent,
          models: [...cli.models],
          patterns: patterns[cli.agent],
          reasoning_efforts: [...cli.efforts],
          source: 'static' as const,
          ...(cli.agent === 'opencode' ? asked : {}),
        })),
      }
    },
  })

const patterns = {
  claude: ['claude-*'],
  codex: ['codex', 'gpt-*'],
  opencode: ['oc-PROVIDER/MODEL'],
  forge: [],
  antigravity: [],
}

const askOpencode = async (jobs: Jobs, signal: AbortSignal) => {
  const { env, homedir } = jobs.options
  const { fault, resolvedPath } = locateCli(clis.opencode, env, homedir)
  if (fault !== undefined || resolvedPath === undefined) return { error: fault ?? 'it was not found' }
  try {
    const told = await askCli(clis.opencode, resolvedPath, ['models'], jobs.options, {
      timeoutMs: ASK_MS,
      signal,
    })
    const names = told
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.includes('/'))
    return { models: names.slice(0, MOST).map((name) => `oc-${name}`), source: 'cli' as const }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}
