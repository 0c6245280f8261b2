import { closeSync, constants, openSync, rmSync, statSync } from 'node:fs'
import { BridgeError } from '../contract/errors.ts'
import { loadDriver, type OpenFile } from './driver.ts'
import { problemsOf } from './integrity.ts'
import { asLedgerErrors } from './ledger-error.ts'
import { SCHEMA_VERSION } from './migrations.ts'
import { COUNT } from './statements.ts'

const ANY = 'SELECT 1 FROM operations LIMIT 1'
const ALL_PAGES = 0x7fffffff

/** What a copy holds. */
export interface Backup {
  readonly operations: number
  readonly bytes: number
}

/**
 * SQLite's online backup into a new file, which is looked through before it counts.
 * @throws BridgeError backup_failed, ledger_*
 */
export const backupDatabase = async (path: string, timeout: number, file: string): Promise<Backup> => {
  const open = await loadDriver()
  makeNew(file)
  try {
    await copy(open, path, timeout, file)
    return verified(open, file)
  } catch (error) {
    rmSync(file, { force: true })
    throw failed(file, error)
  }
}

/** Before SQLite opens it: its own files are open to others. */
const makeNew = (file: string): void => {
  try {
    closeSync(openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, 0o600))
  } catch (error) {
    throw failed(file, error)
  }
}

/** Over a connection of its own: the ledger's goes on to be used between the steps of a backup. */
const copy = async (open: OpenFile, path: string, timeout: number, file: string): Promise<void> => {
  const db = asLedgerErrors(path, () => open(path, { readonly: true, timeout }))
  try {
    // The lock is waited for here; a backup takes a busy database for an empty one.
    asLedgerErrors(path, () => db.exec(`BEGIN; ${ANY}`))
    // In one step: in several it would start again at every write of another process.
    await db.backup(file, { progress: () => ALL_PAGES })
  } finally {
    db.close()
  }
}

const verified = (open: OpenFile, file: string): Backup => {
  const writable = open(file, {})
  // One file that needs no others beside it.
  writable.pragma('journal_mode = DELETE')
  writable.close()
  const db = open(file, { readonly: true })
  try {
    const problems = problemsOf(db, 'integrity_check')
    if (problems.length > 0) throw new Error(problems.join('; '))
    if (db.pragma('user_version', { simple: true }) !== SCHEMA_VERSION) throw new Error('it is not complete')
    const operations = db.prepare<[string], number>(COUNT).pluck().get('operations') ?? 0
    return { operations, bytes: statSync(file).size }
  } finally {
    db.close()
  }
}

const failed = (file: string, error: unknown): BridgeError =>
  BridgeError.is(error)
    ? error
    : new BridgeError('backup_failed', `${file}: ${error instanceof Error ? error.message : String(error)}`, {
        details: { file },
        cause: error,
      })
