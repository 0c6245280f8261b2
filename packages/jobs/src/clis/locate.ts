import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { BridgeError } from '@codex-thread-bridge/core/contract'
import type { Cli } from './cli.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Where a CLI was looked for, and what was found. */
export interface Location {
  readonly configuredCommand: string
  /** `env`: its variable names it. `local`: an installation below the home directory. `path`: PATH. */
  readonly lookup: 'env' | 'local' | 'path'
  readonly resolvedPath: string | undefined
  /** What is wrong, in words; undefined when it can be started. */
  readonly fault: string | undefined
}

const executableFault = (path: string): string | undefined => {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return `${path} does not exist`
  if (!stats.isFile()) return `${path} is ${stats.isDirectory() ? 'a directory' : 'not a file'}`
  try {
    accessSync(path, constants.X_OK)
    return undefined
  } catch {
    return `${path} is not executable`
  }
}

const safeFault = (path: string): string | undefined => {
  try {
    return executableFault(path)
  } catch (error) {
    return `${path} cannot be looked at (${error instanceof Error ? error.message : String(error)})`
  }
}

const inPath = (command: string, env: Environment): string | undefined =>
  (env.PATH ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((directory) => join(directory, command))
    .find((path) => safeFault(path) === undefined)

/** Looks a CLI up: its variable, else an installation of this user, else PATH. Starts nothing. */
export const locateCli = (cli: Cli, env: Environment, homedir: string): Location => {
  const configured = env[cli.variable]?.trim()
  if (configured !== undefined && configured !== '') return configuredLocation(cli, configured, env)
  const local = cli.localPath === undefined ? undefined : join(homedir, cli.localPath)
  if (local !== undefined && safeFault(local) === undefined)
    return { configuredCommand: cli.command, lookup: 'local', resolvedPath: local, fault: undefined }
  return pathLocation('path', cli.command, env)
}

const configuredLocation = (cli: Cli, configured: string, env: Environment): Location => {
  if (isAbsolute(configured))
    return {
      configuredCommand: configured,
      lookup: 'env',
      resolvedPath: configured,
      fault: safeFault(configured),
    }
  if (!configured.includes('/')) return pathLocation('env', configured, env)
  const fault = `${cli.variable} must be a name or an absolute path, not the relative path ${configured}`
  return { configuredCommand: configured, lookup: 'env', resolvedPath: undefined, fault }
}

const pathLocation = (lookup: 'env' | 'path', command: string, env: Environment): Location => {
  const resolvedPath = inPath(command, env)
  const fault = resolvedPath === undefined ? `no executable ${command} is in PATH` : undefined
  return { configuredCommand: command, lookup, resolvedPath, fault }
}

/** The absolute path of a CLI that can be started. @throws BridgeError cli_unavailable */
export const requireCli = (cli: Cli, env: Environment, homedir: string): string => {
  const { fault, resolvedPath } = locateCli(cli, env, homedir)
  if (fault === undefined && resolvedPath !== undefined) return resolvedPath
  throw new BridgeError(
    'cli_unavailable',
    `${cli.title} cannot be started: ${fault ?? 'it was not found'}.`,
    {
      details: { agent: cli.agent, variable: cli.variable },
    },
  )
}
