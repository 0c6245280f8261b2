import { realpathSync, statSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import type { LogLevel } from '@codex-thread-bridge/core/contract'
import { openCeiling, type Ceiling } from '@codex-thread-bridge/core/policy'
import { sandboxNames } from '@codex-thread-bridge/core/protocol'

/** A command line or an environment that cannot be obeyed: one line on stderr, exit 2. */
export class UsageError extends Error {}

export const pluginNames = ['threads', 'reads', 'goals', 'operations'] as const
export type PluginName = (typeof pluginNames)[number]

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
    about: 'which tools: bridge (default)',
    parse: oneOf(['bridge']),
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
  noDeliveryMarkers: row({
    flag: '--no-delivery-markers',
    about: 'send no markers; a lost answer can then not be found again',
    parse: bool,
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
  readonly deliveryMarkers: boolean
  readonly ceiling: Ceiling
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
  valueOf(optionRows.profile)
  return {
    socket: valueOf(optionRows.socket),
    stateDir: valueOf(optionRows.stateDir),
    plugins: valueOf(optionRows.plugins) ?? pluginNames,
    maxCallSeconds: valueOf(optionRows.maxCallSeconds) ?? 50,
    maxResultBytes: valueOf(optionRows.maxResultBytes) ?? 65_536,
    deliveryMarkers: !(valueOf(optionRows.noDeliveryMarkers) ?? false),
    ceiling: {
      maxSandbox: valueOf(optionRows.maxSandbox) ?? openCeiling.maxSandbox,
      allowRoots: [...new Set(valuesOf(optionRows.allowRoot))],
      network: !(valueOf(optionRows.noNetwork) ?? false),
      escalation: valueOf(optionRows.allowEscalation) ?? false,
    },
    logLevel: valueOf(optionRows.logLevel) ?? 'warn',
  }
}
