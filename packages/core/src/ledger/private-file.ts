import { closeSync, constants, lstatSync, mkdirSync, openSync, statSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { BridgeError } from '../contract/errors.ts'
import { codeOf } from './ledger-error.ts'

/**
 * Makes a directory that only this user can enter, or checks the one that is there.
 * @throws BridgeError ledger_not_private, ledger_unavailable; file-system errors as they come
 */
export const ensurePrivateDirectory = (directory: string): void => {
  const obstacle = obstacleTo(directory)
  if (obstacle !== undefined) throw unusable(directory, obstacle)
  makeDirectory(directory)
  refuseUnlessPrivate(directory, statSync(directory))
}

/**
 * Whether there is a directory, which only this user can enter then; for who only looks.
 * @throws BridgeError ledger_not_private, ledger_unavailable
 */
export const isPrivateDirectory = (directory: string): boolean => {
  const obstacle = obstacleTo(directory)
  if (obstacle !== undefined) throw unusable(directory, obstacle)
  const stats = statSync(directory, { throwIfNoEntry: false })
  if (stats === undefined) return false
  refuseUnlessPrivate(directory, stats)
  return true
}

/** What stands where a directory is or is to be made, in words; undefined when nothing does. */
export const obstacleTo = (directory: string): string | undefined => {
  const path = nearestEntry(directory)
  if (isDirectory(path)) return undefined
  return lstatSync(path).isSymbolicLink()
    ? `${path} is a link that leads to no directory`
    : `${path} is no directory`
}

/** The path itself, or the nearest one above it that is there, be it a link that leads nowhere. */
const nearestEntry = (path: string): string => {
  try {
    lstatSync(path)
    return path
  } catch {
    return nearestEntry(dirname(path))
  }
}

const isDirectory = (path: string): boolean => {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** One by one: where a file system makes no directories (/proc), a recursive mkdir of Node never comes back. */
const makeDirectory = (directory: string): void => {
  if (isDirectory(directory)) return
  makeDirectory(dirname(directory))
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    const code = codeOf(error)
    // Another process was faster.
    if (code === 'EEXIST') return
    if (code !== 'ENOENT') throw error
    throw unusable(directory, `${dirname(directory)} lets no directory be made in it`)
  }
}

const unusable = (directory: string, why: string): BridgeError =>
  new BridgeError('ledger_unavailable', `${directory} cannot be used: ${why}.`, {
    hint: 'Nothing was sent. Give a directory of your own with --state-dir.',
    details: { path: directory },
  })

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
