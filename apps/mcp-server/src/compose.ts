import { homedir } from 'node:os'
import { join } from 'node:path'
import type { AppThreadsOptions } from '@codex-thread-bridge/app-threads'
import type { Log, Plugin } from '@codex-thread-bridge/core/contract'
import { createGit } from '@codex-thread-bridge/core/git'
import { createHost, type Host } from '@codex-thread-bridge/core/host'
import {
  defaultStateDir,
  openLedger,
  type LedgerPlace,
  type LedgerPort,
} from '@codex-thread-bridge/core/ledger'
import { createAppServer } from '@codex-thread-bridge/core/transport'
import type { JobsOptions } from '@codex-thread-bridge/jobs'
import { createGoalsPlugin } from '@codex-thread-bridge/goals'
import { createOperationsPlugin } from '@codex-thread-bridge/operations'
import { createReadsPlugin } from '@codex-thread-bridge/reads'
import { createThreadsPlugin } from '@codex-thread-bridge/threads'
import { createWorktreesPlugin } from '@codex-thread-bridge/worktrees'
import type { BridgeOptions, PluginName } from './options.ts'
import { testedVersions } from './tested-versions.ts'
import { version } from './version.ts'

/** Where ledgers, jobs and worktrees are kept. */
export const stateDirOf = ({ stateDir }: BridgeOptions): string =>
  stateDir ?? defaultStateDir(process.env, homedir())

type MakePlugin = (host: Host, options: BridgeOptions, log: Log) => Plugin | Promise<Plugin>

const plugins: Readonly<Record<PluginName, MakePlugin>> = {
  threads: () => createThreadsPlugin(),
  worktrees: (_host, { gitTimeoutSeconds }) =>
    createWorktreesPlugin({ gitTimeoutMs: gitTimeoutSeconds * 1_000 }),
  reads: createReadsPlugin,
  goals: createGoalsPlugin,
  operations: (host) => createOperationsPlugin(host.operations, { version, testedVersions }),
  'app-threads': async (host, options) => {
    const { createAppThreadsPlugin, worktreesDirOf } = await import('@codex-thread-bridge/app-threads')
    return createAppThreadsPlugin(appThreadsOptionsOf(host, worktreesDirOf, options))
  },
  // Loaded for the profile that has it alone: a server without jobs starts faster.
  jobs: async (_host, options, log) =>
    (await import('@codex-thread-bridge/jobs')).createJobsPlugin(jobsOptionsOf(options), { log }),
}

const appThreadsOptionsOf = (
  host: Host,
  worktreesDirOf: (stateDir: string) => string,
  options: BridgeOptions,
): AppThreadsOptions => ({
  ...options.appThreads,
  operations: host.operations,
  documentsRoot: options.appThreads.documentsRoot ?? join(homedir(), 'Documents', 'Codex'),
  worktreesDir: worktreesDirOf(stateDirOf(options)),
  git: createGit({ timeoutMs: options.gitTimeoutSeconds * 1_000 }),
})

const jobsOptionsOf = (options: BridgeOptions): JobsOptions => ({
  ...options.jobs,
  stateDir: stateDirOf(options),
  env: process.env,
  homedir: homedir(),
  isRoot: process.getuid?.() === 0,
  allowRoots: options.ceiling.allowRoots,
})

/** Where the receipts of an App Server are, as these options say. */
export const ledgerPlaceOf = (options: BridgeOptions, socketPath: string): LedgerPlace => ({
  stateDir: stateDirOf(options),
  socketPath,
})

/** A host that is ready. It connects and opens the ledger when a call needs them. @throws BridgeError of register */
export const compose = async (
  options: BridgeOptions,
  log: Log,
  open: (place: LedgerPlace) => Promise<LedgerPort> = openLedger,
): Promise<Host> => {
  const appServer = createAppServer({ socketPath: options.socket, version, log })
  const host = createHost({
    appServer,
    ledger: () => open(ledgerPlaceOf(options, appServer.socket.configured)),
    policy: { deliveryMarkers: options.deliveryMarkers, ceiling: options.ceiling },
    limits: { callMs: options.maxCallSeconds * 1_000, resultBytes: options.maxResultBytes },
    log,
  })
  for (const name of options.plugins) host.register(await plugins[name](host, options, log))
  await host.ready()
  return host
}
