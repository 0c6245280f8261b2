import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { loadDriver } from './driver.ts'
import type { FileSystemKind } from './file-system.ts'
import { codeOf } from './ledger-error.ts'
import { ledgerMigrations, migrate, schemaVersion } from './migrations.ts'
import { ensurePrivateDirectory, ensurePrivateFile } from './private-file.ts'

export interface DatabaseOptions {
  readonly path: string
  /** How long a call waits for a lock of another process, in milliseconds. */
  readonly busyTimeoutMs: number
  readonly fileSystem: (path: string) => FileSystemKind
  /** Migration n takes the file from user_version n - 1 to n; those of the ledger unless given. */
  readonly migrations?: readonly string[]
}

/**
 * Opens the file, private, durable at every commit and in the current schema.
 * @throws BridgeError ledger_driver_missing, ledger_newer, ledger_not_private; other errors as they come
 */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const { path, fileSystem, busyTimeoutMs, migrations = ledgerMigrations } = options
  const open = await loadDriver()
  ensurePrivateDirectory(dirname(path))
  ensurePrivateFile(path)
  const db = open(path, { timeout: busyTimeoutMs })
  try {
    // A newer bridge's file is not even given another journal.
    schemaVersion(db, migrations.length)
    // WAL needs memory that all processes share, which a network file system does not give.
    const wal = !fileSystem(path).network
    await setJournal(db, wal ? 'WAL' : 'DELETE', busyTimeoutMs)
    // A rollback journal's end is its unlinking, which only EXTRA makes durable.
    db.pragma(`synchronous = ${wal ? 'FULL' : 'EXTRA'}`)
    db.pragma('wal_autocheckpoint = 1000')
    db.pragma('journal_size_limit = 16777216')
    migrate(db, migrations)
    return db
  } catch (error) {
    db.close()
    throw error
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
