import { realpathSync, statSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import type { LogLevel } from '@codex-thread-bridge/core/contract'
import { openCeiling, type Ceiling } from '@codex-thread-bridge/core/policy'
import { sandboxNames, type SandboxName } from '@codex-thread-bridge/core/protocol'
import type { Agent } from '@codex-thread-bridge/jobs'

/** A command line or an environment that cannot be obeyed: one line on stderr, exit 2. */
export class UsageError extends Error {}

/** Which tool families a profile has; `--plugins` chooses from all of them. */
export const profiles = {
  bridge: ['threads', 'worktrees', 'reads', 'goals', 'operations'],
  'codex-app': ['app-threads', 'operations'],
  jobs: ['jobs', 'operations'],
} as const

export const pluginNames = [
  'threads',
  'worktrees',
  'reads',
  'goals',
  'operations',
  'app-threads',
  'jobs',
] as const
export type PluginName = (typeof pluginNames)[number]

const jobAgents = ['claude', 'codex', 'opencode', 'forge', 'antigravity'] as const satisfies readonly Agent[]
const profileNames = ['bridge', 'codex-app', 'jobs'] as const satisfies readonly (keyof typeof profiles)[]
const logLevels = ['error', 'warn', 'info', 'debug'] as const satisfies readonly LogLevel[]
const ENV_PREFIX = 'CODEX_THREAD_BRIDGE_'

/** One option, as flag and as environment variable. `parse` throws what is wrong with the text, in words. */
interface OptionRow<T> {
  readonly flag: `--${string}`
  /** None: a switch, which a variable sets with 1, true, 0 or false. */
  readonly placeholder?: string
  readonly about: string
  /** May be given several times; a variable separates with the colon of PATH. */
  readonly repeatable?: true
  readonly parse: (text: string) => T
}

const path = (text: string): string => {
  if (text.trim() === '') throw new Error('must not be empty')
  return resolve(text)
}

/** The real path of a directory that is there. */
const directory = (text: string): string => {
  const found = path(text)
  if (statSync(found, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new Error('must be an existing directory')
  return realpathSync(found)
}

const wholeNumber =
  (low: number, high: number) =>
  (text: string): number => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= low && value <= high) return value
    throw new Error(`must be a whole number from ${String(low)} to ${String(high)}`)
  }

const oneOf =
  <const T extends string>(allowed: readonly T[]) =>
  (text: string): T => {
    const found = allowed.find((value) => value === text)
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}`)
    return found
  }

const pluginList = (text: string): readonly PluginName[] => [
  ...new Set(text.split(',').map((name) => oneOf(pluginNames)(name.trim()))),
]

const variableName = (text: string): string => {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return text
  throw new Error('must be the name of an environment variable')
}

const notBlank = (text: string): string => {
  if (text.trim() === '') throw new Error('must not be empty')
  return text
}

const bool = (text: string): boolean => ['1', 'true'].includes(oneOf(['1', 'true', '0', 'false'])(text))

const row = <T>(option: OptionRow<T>): OptionRow<T> => option

/** Every option of the server, in the order of --help. */
export const optionRows = {
  socket: row({
    flag: '--socket',
    placeholder: 'PATH',
    about: "the App Server's Unix socket (default: the one in CODEX_HOME or ~/.codex)",
    parse: path,
  }),
  stateDir: row({
    flag: '--state-dir',
    placeholder: 'DIR',
    about: 'where receipts are kept, private (default: $XDG_STATE_HOME/codex-thread-bridge)',
    parse: path,
  }),
  profile: row({
    flag: '--profile',
    placeholder: 'NAME',
    about: `which tools: ${profileNames.join(', ')} (default: bridge)`,
    parse: oneOf(profileNames),
  }),
  plugins: row({
    flag: '--plugins',
    placeholder: 'LIST',
    about: `only these tool families, with commas: ${pluginNames.join(',')}`,
    parse: pluginList,
  }),
  maxSandbox: row({
    flag: '--max-sandbox',
    placeholder: 'NAME',
    about: `the most that an agent may get: ${sandboxNames.join(', ')} (default: danger-full-access)`,
    parse: oneOf(sandboxNames),
  }),
  allowRoot: row({
    flag: '--allow-root',
    placeholder: 'DIR',
    about: 'agents work in this directory only; repeatable (default: anywhere)',
    repeatable: true,
    parse: directory,
  }),
  noNetwork: row({
    flag: '--no-network',
    about: 'no agent may have network, so none full access either',
    parse: bool,
  }),
  allowEscalation: row({
    flag: '--allow-escalation',
    about: 'an agent may start and message agents with wider access than its own',
    parse: bool,
  }),
  maxCallSeconds: row({
    flag: '--max-call-seconds',
    placeholder: 'N',
    about: 'how long one call may take before it answers with what it has, 5-280 (default: 50)',
    parse: wholeNumber(5, 280),
  }),
  maxResultBytes: row({
    flag: '--max-result-bytes',
    placeholder: 'N',
    about: 'how large one answer may be, 4096-1048576 (default: 65536)',
    parse: wholeNumber(4_096, 1_048_576),
  }),
  gitTimeout: row({
    flag: '--git-timeout',
    placeholder: 'S',
    about: 'how many seconds one Git command may take, 1-3600 (default: 30)',
    parse: wholeNumber(1, 3_600),
  }),
  noDeliveryMarkers: row({
    flag: '--no-delivery-markers',
    about: 'send no markers; a lost answer can then not be found again',
    parse: bool,
  }),
  project: row({
    flag: '--project',
    placeholder: 'DIR',
    about: 'codex-app: one more project that threads can be created in; repeatable',
    repeatable: true,
    parse: directory,
  }),
  documentsRoot: row({
    flag: '--documents-root',
    placeholder: 'DIR',
    about: 'codex-app: where threads without a project get their directories (default: ~/Documents/Codex)',
    parse: path,
  }),
  defaultPermissions: row({
    flag: '--default-permissions',
    placeholder: 'ID',
    about: 'codex-app: the permission profile of new threads (default: :read-only)',
    parse: notBlank,
  }),
  provenance: row({
    flag: '--provenance',
    about: 'codex-app: messages begin with a line that names the thread they come from',
    parse: bool,
  }),
  jobsAgent: row({
    flag: '--jobs-agent',
    placeholder: 'NAME',
    about: `jobs: the CLI for calls that name none: ${jobAgents.join(', ')} (default: the first that is installed)`,
    parse: oneOf(jobAgents),
  }),
  jobsAccess: row({
    flag: '--jobs-access',
    placeholder: 'NAME',
    about: `jobs: the access for calls that name none: ${sandboxNames.join(', ')} (default: workspace-write)`,
    parse: oneOf(sandboxNames),
  }),
  jobsEnv: row({
    flag: '--jobs-env',
    placeholder: 'NAME',
    about: 'jobs: one more environment variable that CLIs get; repeatable',
    repeatable: true,
    parse: variableName,
  }),
  jobsMaxRunning: row({
    flag: '--jobs-max-running',
    placeholder: 'N',
    about: 'jobs: how many may run at once, 1-1000 (default: 16)',
    parse: wholeNumber(1, 1_000),
  }),
  jobsMaxOutput: row({
    flag: '--jobs-max-output',
    placeholder: 'BYTES',
    about: 'jobs: a job with more output is ended, 1024 or more (default: 1073741824)',
    parse: wholeNumber(1_024, Number.MAX_SAFE_INTEGER),
  }),
  logLevel: row({
    flag: '--log-level',
    placeholder: 'LEVEL',
    about: `JSON lines on stderr: ${logLevels.join(', ')} (default: warn)`,
    parse: oneOf(logLevels),
  }),
}

export interface BridgeOptions {
  readonly socket: string | undefined
  readonly stateDir: string | undefined
  readonly plugins: readonly PluginName[]
  readonly maxCallSeconds: number
  readonly maxResultBytes: number
  readonly gitTimeoutSeconds: number
  readonly deliveryMarkers: boolean
  readonly ceiling: Ceiling
  readonly appThreads: {
    readonly projects: readonly string[]
    readonly documentsRoot: string | undefined
    readonly defaultPermissions: string
    readonly provenance: boolean
  }
  readonly jobs: {
    readonly agent: Agent | undefined
    readonly access: SandboxName
    readonly addedVariables: readonly string[]
    readonly maxRunning: number
    readonly maxOutputBytes: number
    /** False for commands that look at jobs: those over their limits are left to the servers. */
    readonly supervise?: boolean
  }
  readonly logLevel: LogLevel
}

/** The environment variable of an option. */
export const variableOf = ({ flag }: Pick<OptionRow<unknown>, 'flag'>): string =>
  ENV_PREFIX + flag.slice(2).toUpperCase().replaceAll('-', '_')

const parseAs = <T>({ parse }: OptionRow<T>, source: string, text: string): T => {
  try {
    return parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${source} ${reason} (received ${JSON.stringify(text)})`)
  }
}

const refuseUnknownVariables = (env: Environment): void => {
  const known = new Set(Object.values(optionRows).map(variableOf))
  const unknown = Object.keys(env).find((name) => name.startsWith(ENV_PREFIX) && !known.has(name))
  if (unknown !== undefined) throw new UsageError(`${unknown} is no variable of this version`)
}

type Environment = Readonly<Record<string, string | undefined>>
/** What the command line gave, by flag, in order; what a switch gives does not matter. */
export type Flags = ReadonlyMap<string, readonly string[]>

/**
 * The options in force: flag, else variable, else default. An empty variable counts as unset.
 * @throws UsageError for a bad value or an unknown variable, naming it
 */
export const readOptions = (flags: Flags, env: Environment): BridgeOptions => {
  refuseUnknownVariables(env)
  const valuesOf = <T>(option: OptionRow<T>): readonly T[] => {
    const given = flags.get(option.flag)
    if (given !== undefined)
      return given.map((text) =>
        parseAs(option, option.flag, option.placeholder === undefined ? 'true' : text),
      )
    const variable = variableOf(option)
    const text = env[variable] ?? ''
    const texts = option.repeatable === true ? text.split(delimiter) : [text]
    return texts.filter((part) => part !== '').map((part) => parseAs(option, variable, part))
  }
  const valueOf = <T>(option: OptionRow<T>): T | undefined => valuesOf(option).at(-1)
  const profile = valueOf(optionRows.profile) ?? 'bridge'
  return {
    socket: valueOf(optionRows.socket),
    stateDir: valueOf(optionRows.stateDir),
    plugins: valueOf(optionRows.plugins) ?? profiles[profile],
    maxCallSeconds: valueOf(optionRows.maxCallSeconds) ?? 50,
    maxResultBytes: valueOf(optionRows.maxResultBytes) ?? 65_536,
    gitTimeoutSeconds: valueOf(optionRows.gitTimeout) ?? 30,
    deliveryMarkers: !(valueOf(optionRows.noDeliveryMarkers) ?? false),
    ceiling: {
      maxSandbox: valueOf(optionRows.maxSandbox) ?? openCeiling.maxSandbox,
      allowRoots: [...new Set(valuesOf(optionRows.allowRoot))],
      network: !(valueOf(optionRows.noNetwork) ?? false),
      escalation: valueOf(optionRows.allowEscalation) ?? false,
    },
    appThreads: {
      projects: [...new Set(valuesOf(optionRows.project))],
      documentsRoot: valueOf(optionRows.documentsRoot),
      defaultPermissions: valueOf(optionRows.defaultPermissions) ?? ':read-only',
      provenance: valueOf(optionRows.provenance) ?? false,
    },
    jobs: {
      agent: valueOf(optionRows.jobsAgent),
      access: valueOf(optionRows.jobsAccess) ?? 'workspace-write',
      addedVariables: [...new Set(valuesOf(optionRows.jobsEnv))],
      maxRunning: valueOf(optionRows.jobsMaxRunning) ?? 16,
      maxOutputBytes: valueOf(optionRows.jobsMaxOutput) ?? 1_073_741_824,
    },
    // The last is what the reference jobs server knows.
    logLevel: valueOf(optionRows.logLevel) ?? (env.MCP_CLAUDE_DEBUG === 'true' ? 'debug' : 'warn'),
  }
}
