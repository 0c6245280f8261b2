import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ledgerFileName, ledgerPlace } from '@codex-thread-bridge/core/ledger'
import Database from 'better-sqlite3'

/** A receipt as the Python bridge stored it. */
export interface OlderRow {
  readonly requestId: string
  readonly fingerprint: string
  readonly members?: Readonly<Record<string, unknown>>
}

/** Writes a ledger as the Python bridge left it: under our own name, or under that of another path. */
export const writeOlderLedger = (
  place: { readonly stateDir: string; readonly socketPath: string },
  rows: readonly OlderRow[],
  under?: string,
): string => {
  mkdirSync(place.stateDir, { recursive: true, mode: 0o700 })
  const path = under === undefined ? ledgerPlace(place).path : join(place.stateDir, ledgerFileName(under))
  const db = new Database(path)
  db.exec(
    'CREATE TABLE IF NOT EXISTS operations (request_id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, receipt TEXT NOT NULL)',
  )
  const insert = db.prepare('INSERT INTO operations VALUES (?, ?, ?)')
  for (const { requestId, fingerprint, members = {} } of rows)
    insert.run(
      requestId,
      fingerprint,
      JSON.stringify({
        requestId,
        operation: 'create_thread',
        status: 'accepted',
        startedAt: 1_790_000_000.25,
        updatedAt: 1_790_000_001.5,
        retrySafe: false,
        fingerprintVersion: 2,
        ...members,
      }),
    )
  db.close()
  chmodSync(path, 0o600)
  return path
}

/** Of create_thread with the directory /srv/app and every default. */
export const DEFAULTS_FINGERPRINT = '61dd22d6b521da7a1f6043b43b329ff1c041d1c9df65d75001a34aa3a0e42af9'
