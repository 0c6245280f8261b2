import { errorCodes, manifestOf, type ManifestTool } from '@codex-thread-bridge/core/contract'
import { createAppThreadsPlugin } from '@codex-thread-bridge/app-threads'
import { createGit } from '@codex-thread-bridge/core/git'
import { createGoalsPlugin } from '@codex-thread-bridge/goals'
import { createJobsPlugin, jobsDefaults } from '@codex-thread-bridge/jobs'
import { createOperationsPlugin } from '@codex-thread-bridge/operations'
import { createReadsPlugin } from '@codex-thread-bridge/reads'
import { createThreadsPlugin } from '@codex-thread-bridge/threads'
import { createWorktreesPlugin } from '@codex-thread-bridge/worktrees'
import { createHost } from '@codex-thread-bridge/core/host'
import { cannedAppServer, memoryLedger } from '@codex-thread-bridge/core/testing'
import { readFileSync, writeFileSync } from 'node:fs'
import { format, resolveConfig } from 'prettier'
import { faultTables } from '../apps/mcp-server/test/fault-matrix/render.ts'
import { launchTables } from '../apps/mcp-server/test/launch-faults/render.ts'

/** Writes the generated parts of the documentation, or with --check says which one is stale. */
const check = process.argv.includes('--check')

const firstSentence = (text: string): string => text.split(/(?<=\.) /)[0] ?? text

const toolRow = (plugin: string, tool: ManifestTool): string =>
  `| \`${tool.name}\` | ${plugin} | ${tool.kind} | ${firstSentence(tool.description)} |`

const toolTable = (): string => {
  const host = createHost({ appServer: cannedAppServer({}), ledger: memoryLedger() })
  const plugins = [
    createThreadsPlugin(),
    createWorktreesPlugin({ gitTimeoutMs: 30_000 }),
    createReadsPlugin(),
    createGoalsPlugin(),
    createAppThreadsPlugin({
      operations: host.operations,
      projects: [],
      documentsRoot: '/',
      worktreesDir: '/',
      git: createGit({ timeoutMs: 30_000 }),
      defaultPermissions: ':read-only',
      provenance: false,
    }),
    createJobsPlugin({ ...jobsDefaults, stateDir: '/', env: {}, homedir: '/', isRoot: false }),
    createOperationsPlugin(host.operations, { version: '0', testedVersions: [] }),
  ]
  const rows = manifestOf(plugins).plugins.flatMap(({ name, tools }) =>
    tools.map((tool) => toolRow(name, tool)),
  )
  return ['| tool | package | kind | what it does |', '| --- | --- | --- | --- |', ...rows.sort()].join('\n')
}

const errorTable = (): string =>
  [
    '| code | when | what to do | `next` |',
    '| --- | --- | --- | --- |',
    ...Object.entries(errorCodes).map(
      ([code, { when, hint, next }]) => `| \`${code}\` | ${when} | ${hint} | \`${next}\` |`,
    ),
  ].join('\n')

const parts = [
  { file: 'README.md', name: 'tools', text: toolTable() },
  { file: 'docs/errors.md', name: 'errors', text: errorTable() },
  { file: 'docs/receipts.md', name: 'faults', text: faultTables() },
  { file: 'docs/worktrees.md', name: 'launch-faults', text: launchTables() },
]

const between = (page: string, name: string, text: string, file: string): string => {
  const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`]
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from < 0 || to < from) throw new Error(`${file} has no part ${begin} … ${end}`)
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`
}

let stale = false
for (const { file, name, text } of parts) {
  const page = readFileSync(file, 'utf8')
  const options = { ...(await resolveConfig(file)), filepath: file }
  const fresh = await format(between(page, name, text, file), options)
  if (fresh === page) continue
  if (check) {
    console.error(`${file} is stale: run \`npm run docs\``)
    stale = true
  } else writeFileSync(file, fresh)
}
if (stale) process.exitCode = 1
