import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { sha256 } from './fingerprint.ts'
import { resolveAsPython } from './python-path.ts'

interface Endpoint {
  readonly identity: string
  /** SHA-256 in hex: what the ledger's file is named after. */
  readonly digest: string
}

/**
 * The name under which an App Server's receipts are kept: an absolute path, the same for every alias of a socket and
 * before and after an upgrade of Codex (contract: receipts, The ledger file). The socket need not exist.
 */
export const endpointIdentity = (socketPath: string): string => endpointOf(socketPath).identity

const endpointOf = (socketPath: string): Endpoint => {
  let path = inRealDirectory(resolve(socketPath))
  let daemon = daemonDigest(path)
  // As many links as Linux follows: a circle ends where it is.
  for (let links = 0; links < 40 && daemon === undefined; links++) {
    const target = linkTarget(path)
    if (target === undefined) break
    const real = inRealDirectory(target)
    daemon = daemonDigest(target) ?? daemonDigest(real)
    if (daemon === undefined) path = real
  }
  return { identity: path, digest: daemon || sha256(path) }
}

/**
 * Codex from 0.163 on has its socket in a `codex-daemon-<uid>` directory, which changes with TMPDIR, and puts a link where
 * it used to be. The socket's name there is the SHA-256 of that link's real path (measured), so every way to it gives the
 * digest of that path. Undefined anywhere else; empty for a name that is no digest.
 */
const daemonDigest = (path: string): string | undefined => {
  if (!/^codex-daemon-\d+$/.test(basename(dirname(path)))) return undefined
  return /^[\da-f]{64}$/.test(basename(path)) ? basename(path) : ''
}

const linkTarget = (path: string): string | undefined => {
  try {
    return lstatSync(path).isSymbolicLink() ? resolve(dirname(path), readlinkSync(path)) : undefined
  } catch {
    return undefined
  }
}

const inRealDirectory = (path: string): string => join(realAsFarAsItExists(dirname(path)), basename(path))

const realAsFarAsItExists = (directory: string): string => {
  try {
    return realpathSync(directory)
  } catch {
    const parent = dirname(directory)
    return parent === directory ? directory : join(realAsFarAsItExists(parent), basename(directory))
  }
}

/** The file name of a ledger that is named after a path, as the Python bridge does it. */
export const ledgerFileName = (path: string): string => fileNameOf(sha256(path))

/** The file name of the ledger of an App Server, the same for every path that leads to its socket. */
export const ledgerNameOf = (socketPath: string): string => fileNameOf(endpointOf(socketPath).digest)

/** Whether a file of a state directory is named as the ledger of some App Server. */
export const isLedgerName = (name: string): boolean => /^operations-[0-9a-f]{16}\.sqlite3$/.test(name)

const fileNameOf = (digest: string): string => `operations-${digest.slice(0, 16)}.sqlite3`

/**
 * Names under which the Python bridge may have kept this endpoint's receipts: those of the path as supplied and of the
 * path with every link followed. Without our own.
 */
export const otherLedgerNames = (socketPath: string): readonly string[] => {
  const supplied = resolve(socketPath)
  const names = new Set([supplied, resolveAsPython(supplied)].map(ledgerFileName))
  names.delete(ledgerNameOf(socketPath))
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
