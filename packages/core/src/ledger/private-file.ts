import { closeSync, constants, lstatSync, mkdirSync, openSync, statSync, type Stats } from 'node:fs'
import { BridgeError } from '../contract/errors.ts'

/**
 * Makes a directory that only this user can enter, or checks the one that is there.
 * @throws BridgeError ledger_not_private; file-system errors as they come
 */
export const ensurePrivateDirectory = (directory: string): void => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  refuseUnlessPrivate(directory, statSync(directory))
}

/**
 * Makes an empty file that only this user can open, or checks the one that is there. SQLite gives -wal and -shm the
 * same mode. A link is refused: it could lead the receipts anywhere.
 * @throws BridgeError ledger_not_private, ledger_unavailable; file-system errors as they come
 */
export const ensurePrivateFile = (path: string): void => {
  try {
    closeSync(openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, 0o600))
  } catch (error) {
    if (!isPrivateFile(path)) throw error
  }
}

/**
 * Whether there is a file, which only this user can open then.
 * @throws BridgeError ledger_not_private, ledger_unavailable
 */
export const isPrivateFile = (path: string): boolean => {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return false
  refuseUnlessPlain(path, stats)
  refuseUnlessPrivate(path, stats)
  return true
}

const refuseUnlessPlain = (path: string, stats: Stats): void => {
  if (stats.isSymbolicLink()) {
    throw new BridgeError('ledger_not_private', `${path} is a symbolic link.`, {
      hint: 'Replace the link by the file itself.',
      details: { path },
    })
  }
  if (!stats.isFile()) throw new BridgeError('ledger_unavailable', `${path} is not a file.`)
}

const refuseUnlessPrivate = (path: string, stats: Stats): void => {
  const mode = stats.mode & 0o777
  if (stats.uid === process.getuid?.() && (mode & 0o077) === 0) return
  const shown = mode.toString(8).padStart(4, '0')
  throw new BridgeError('ledger_not_private', `${path} has mode ${shown} and belongs to uid ${stats.uid}.`, {
    details: { path, mode: shown, uid: stats.uid },
  })
}
