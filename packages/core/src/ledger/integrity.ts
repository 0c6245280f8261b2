import { existsSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { loadDriver } from './driver.ts'
import { ledgerError } from './ledger-error.ts'
import { schemaVersion } from './migrations.ts'

/** What a check of SQLite finds wrong, at most ten lines; empty when nothing is. */
export const problemsOf = (db: Database, check: 'quick_check' | 'integrity_check'): readonly string[] => {
  const lines = db.prepare<[], string>(`PRAGMA ${check}(10)`).pluck().all()
  return lines.length === 1 && lines[0] === 'ok' ? [] : lines
}

/**
 * Looks through a ledger file that exists, without a change to it; other processes may use it.
 * @returns what is wrong with it, at most ten lines
 * @throws BridgeError ledger_driver_missing, ledger_newer, ledger_corrupt (no SQLite file), ledger_locked, ledger_read_only
 */
export const checkIntegrity = async (path: string): Promise<readonly string[]> => {
  try {
    const open = await loadDriver()
    // A read-only connection would leave -wal and -shm behind where there are none; a writable one removes its own.
    const db = open(path, { readonly: existsSync(`${path}-wal`) })
    try {
      db.pragma('query_only = ON')
      schemaVersion(db)
      return problemsOf(db, 'quick_check')
    } finally {
      db.close()
    }
  } catch (error) {
    throw ledgerError(path, error)
  }
}
