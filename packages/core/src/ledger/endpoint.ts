import { createHash } from 'node:crypto'
import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { resolveAsPython } from './python-path.ts'

/**
 * The name under which an App Server's receipts are kept: an absolute path, the same for every alias of a socket and
 * before and after an upgrade of Codex (contract: receipts, The ledger file). The socket need not exist.
 */
export const endpointIdentity = (socketPath: string): string => {
  let path = inRealDirectory(resolve(socketPath))
  // As many links as Linux follows: a circle ends where it is.
  for (let links = 0; links < 40; links++) {
    const target = linkTarget(path)
    if (target === undefined) return path
    const real = inRealDirectory(target)
    if (isDaemonSocket(target) || isDaemonSocket(real)) return path
    path = real
  }
  return path
}

const linkTarget = (path: string): string | undefined => {
  try {
    return lstatSync(path).isSymbolicLink() ? resolve(dirname(path), readlinkSync(path)) : undefined
  } catch {
    return undefined
  }
}

/** Codex from 0.163 on puts a link to such a path where the socket used to be; the path changes with TMPDIR. */
const isDaemonSocket = (path: string): boolean => /^codex-daemon-\d+$/.test(basename(dirname(path)))

const inRealDirectory = (path: string): string => join(realAsFarAsItExists(dirname(path)), basename(path))

const realAsFarAsItExists = (directory: string): string => {
  try {
    return realpathSync(directory)
  } catch {
    const parent = dirname(directory)
    return parent === directory ? directory : join(realAsFarAsItExists(parent), basename(directory))
  }
}

/** The ledger's file name for an endpoint identity. */
export const ledgerFileName = (identity: string): string =>
  `operations-${createHash('sha256').update(identity).digest('hex').slice(0, 16)}.sqlite3`

/**
 * Names under which the Python bridge may have kept this endpoint's receipts: those of the path as supplied and of the
 * path with every link followed. Without our own.
 */
export const otherLedgerNames = (socketPath: string): readonly string[] => {
  const supplied = resolve(socketPath)
  const names = new Set([supplied, resolveAsPython(supplied)].map(ledgerFileName))
  names.delete(ledgerFileName(endpointIdentity(socketPath)))
  return [...names]
}

/** `$XDG_STATE_HOME/codex-thread-bridge`, or the same under `~/.local/state`; a relative XDG_STATE_HOME does not count. */
export const defaultStateDir = (
  env: Readonly<Record<string, string | undefined>>,
  homedir: string,
): string => {
  const state = env.XDG_STATE_HOME
  const root = state !== undefined && isAbsolute(state) ? state : join(homedir, '.local', 'state')
  return join(root, 'codex-thread-bridge')
}
