import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { BridgeError, type ErrorCode } from '../contract/errors.ts'

/** Codes of SQLite (their beginnings) and of the file system, in the order in which they are tried. */
const codes: readonly (readonly [RegExp, ErrorCode])[] = [
  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, 'ledger_locked'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'ledger_corrupt'],
  // The file was moved or deleted under us: nothing is wrong with its permissions.
  [/^SQLITE_READONLY_DBMOVED/, 'ledger_unavailable'],
  [/^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM|EROFS)/, 'ledger_read_only'],
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)/, 'ledger_full'],
]

/** Runs `act` on the ledger at `path`; whatever it throws comes out as a BridgeError. */
export const asLedgerErrors = <T>(path: string, act: () => T): T => {
  try {
    return act()
  } catch (error) {
    throw ledgerError(path, error)
  }
}

/** An error of SQLite or the file system as the ledger_* code that says what to do. */
export const ledgerError = (path: string, error: unknown): BridgeError => {
  if (BridgeError.is(error)) return error
  const text = error instanceof Error ? error.message : String(error)
  const sqlite = codeOf(error)
  return new BridgeError(ledgerCode(path, sqlite), `${path}: ${text}${sqlite === '' ? '' : ` (${sqlite})`}`, {
    details: { path, ...(sqlite === '' ? {} : { reason: sqlite }) },
    cause: error,
  })
}

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const ledgerCode = (path: string, code: string): ErrorCode => {
  // SQLite has its own code for a full disk, but not where it extends the -shm file or makes a new one.
  if (/^SQLITE_(IOERR|CANTOPEN)/.test(code) && diskIsFull(path)) return 'ledger_full'
  return codes.find(([pattern]) => pattern.test(code))?.[1] ?? 'ledger_unavailable'
}

const diskIsFull = (path: string): boolean => {
  try {
    return statfsSync(dirname(path)).bavail === 0
  } catch {
    return false
  }
}
