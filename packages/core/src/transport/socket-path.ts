import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { SocketDescription } from '../contract/app-server.ts'

/** What a Unix socket's address holds, in bytes; macOS takes four less. */
export const longestAddress = process.platform === 'darwin' ? 103 : 107

export interface SocketPathOptions {
  /** The operator's own choice. */
  readonly configured?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly homedir: string
}

/**
 * The absolute path of the App Server's socket: configured, CODEX_THREAD_BRIDGE_SOCKET, below CODEX_HOME, below
 * `~/.codex`, whichever comes first. An empty value counts as none. The socket need not exist.
 */
export const findSocketPath = ({ configured, env, homedir }: SocketPathOptions): string => {
  const chosen = given(configured) ?? given(env.CODEX_THREAD_BRIDGE_SOCKET)
  if (chosen !== undefined) return resolve(chosen)
  const home = given(env.CODEX_HOME) ?? join(homedir, '.codex')
  return resolve(home, 'app-server-control', 'app-server-control.sock')
}

/** The path and, as far as it exists now, where it leads once every symlink is followed. */
export const describeSocket = (configured: string): SocketDescription => ({
  configured,
  resolved: resolvedPath(configured),
})

/** What to hand to connect(2): the path itself, or where it leads when it is too long; undefined when both are. */
export const socketAddress = ({ configured, resolved }: SocketDescription): string | undefined =>
  [configured, resolved].find((path) => Buffer.byteLength(path) <= longestAddress)

const given = (value: string | undefined): string | undefined => (value === '' ? undefined : value)

const resolvedPath = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
