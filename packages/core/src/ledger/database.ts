import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type BetterSqlite3 from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { BridgeError } from '../contract/errors.ts'
import type { FileSystemKind } from './file-system.ts'
import { codeOf } from './ledger-error.ts'
import { migrate, schemaVersion } from './migrations.ts'
import { ensurePrivateDirectory, ensurePrivateFile } from './private-file.ts'

export interface DatabaseOptions {
  readonly path: string
  /** How long a call waits for a lock of another process, in milliseconds. */
  readonly busyTimeoutMs: number
  readonly fileSystem: (path: string) => FileSystemKind
}

/**
 * Opens the file, private, durable at every commit and in the current schema.
 * @throws BridgeError ledger_driver_missing, ledger_newer, ledger_not_private; other errors as they come
 */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const { path, fileSystem, busyTimeoutMs } = options
  const driver = await loadDriver()
  ensurePrivateDirectory(dirname(path))
  ensurePrivateFile(path)
  const db = construct(driver, path, busyTimeoutMs)
  try {
    // A newer bridge's file is not even given another journal.
    schemaVersion(db)
    // WAL needs memory that all processes share, which a network file system does not give.
    const wal = !fileSystem(path).network
    await setJournal(db, wal ? 'WAL' : 'DELETE', busyTimeoutMs)
    // A rollback journal's end is its unlinking, which only EXTRA makes durable.
    db.pragma(`synchronous = ${wal ? 'FULL' : 'EXTRA'}`)
    db.pragma('wal_autocheckpoint = 1000')
    db.pragma('journal_size_limit = 16777216')
    migrate(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

type Driver = typeof BetterSqlite3

const loadDriver = async (): Promise<Driver> => {
  try {
    return (await import('better-sqlite3')).default
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new BridgeError('ledger_driver_missing', 'The package better-sqlite3 is not installed.', {
      cause: error,
    })
  }
}

const construct = (Driver: Driver, path: string, timeout: number): Database => {
  try {
    return new Driver(path, { fileMustExist: true, timeout })
  } catch (error) {
    if (codeOf(error).startsWith('SQLITE_')) throw error
    // The JavaScript is there, its native part is not, or was built for another Node.
    throw new BridgeError('ledger_driver_missing', 'better-sqlite3 does not load on this Node.', {
      hint: 'npm rebuild better-sqlite3',
      cause: error,
    })
  }
}

const RETRY_MS = 25

/** SQLite does not wait for locks when the journal mode changes (once in the life of a file): we do. */
const setJournal = async (db: Database, mode: 'WAL' | 'DELETE', timeoutMs: number): Promise<void> => {
  for (let waited = 0; ; waited += RETRY_MS) {
    try {
      db.pragma(`journal_mode = ${mode}`)
      return
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_BUSY') || waited >= timeoutMs) throw error
      await sleep(RETRY_MS)
    }
  }
}
