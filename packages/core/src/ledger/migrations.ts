import type { Database } from 'better-sqlite3'
import { BridgeError } from '../contract/errors.ts'

// The expressions below are part of migration 1: a list uses its index only while both spell them alike.
/** The stored status, or `unreadable` for what is no receipt (so that such a row cannot stop the indexes). */
export const statusOf = (column: string): string =>
  `CASE WHEN NOT json_valid(${column}) THEN 'unreadable'
    WHEN json_extract(${column}, '$.status') IN ('in_progress_or_unknown', 'accepted', 'failed', 'outcome_unknown')
    THEN json_extract(${column}, '$.status') ELSE 'unreadable' END`
export const STARTED_AT = `CASE WHEN NOT json_valid(receipt) THEN 0
    WHEN json_type(receipt, '$.startedAt') IN ('integer', 'real') THEN json_extract(receipt, '$.startedAt') ELSE 0 END`
export const THREAD_ID = `CASE WHEN json_valid(receipt) THEN json_extract(receipt, '$.threadId') END`

const uncertain = (column: string): string => `(${statusOf(column)}) = 'outcome_unknown'`

/**
 * Migration n takes a file from user_version n - 1 to n. A ledger of the Python bridge is at 0 with its one table.
 * Counting a million rows would read them all, so triggers keep the two numbers that are asked for.
 */
export const ledgerMigrations: readonly string[] = [
  `
  CREATE TABLE IF NOT EXISTS operations (request_id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, receipt TEXT NOT NULL);
  CREATE INDEX operations_by_status ON operations (${statusOf('receipt')}, ${STARTED_AT}, request_id);
  CREATE INDEX operations_by_thread ON operations (${THREAD_ID}, ${statusOf('receipt')}, ${STARTED_AT}, request_id);

  CREATE TABLE operation_counts (name TEXT PRIMARY KEY, n INTEGER NOT NULL);
  INSERT INTO operation_counts
    SELECT 'operations', count(*) FROM operations UNION ALL
    SELECT 'uncertain', count(*) FROM operations WHERE ${uncertain('receipt')};
  CREATE TRIGGER operations_added AFTER INSERT ON operations BEGIN
    UPDATE operation_counts SET n = n + 1 WHERE name = 'operations';
    UPDATE operation_counts SET n = n + 1 WHERE name = 'uncertain' AND ${uncertain('NEW.receipt')};
  END;
  CREATE TRIGGER operations_saved AFTER UPDATE OF receipt ON operations
  WHEN (${uncertain('NEW.receipt')}) <> (${uncertain('OLD.receipt')}) BEGIN
    UPDATE operation_counts SET n = n + iif(${uncertain('NEW.receipt')}, 1, -1) WHERE name = 'uncertain';
  END;
  CREATE TRIGGER operations_dropped AFTER DELETE ON operations BEGIN
    UPDATE operation_counts SET n = n - 1 WHERE name = 'operations';
    UPDATE operation_counts SET n = n - 1 WHERE name = 'uncertain' AND ${uncertain('OLD.receipt')};
  END;

  CREATE TABLE thread_claims (
    ticket INTEGER PRIMARY KEY,
    thread_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    UNIQUE (thread_id, request_id)
  );
  `,
]

/** The user_version of a ledger that this code has brought up to date. */
export const SCHEMA_VERSION = ledgerMigrations.length

/**
 * The schema version of a file whose migrations are `known` in number.
 * @throws BridgeError ledger_newer; SQLite's errors as they come
 */
export const schemaVersion = (db: Database, known = SCHEMA_VERSION): number => {
  const version = Number(db.pragma('user_version', { simple: true }))
  if (version <= known) return version
  throw new BridgeError(
    'ledger_newer',
    `${db.name} has schema ${version}; this bridge knows up to ${known}.`,
    {
      details: { path: db.name, version, known },
    },
  )
}

/**
 * Brings a file to the last of its migrations, all or nothing; a file that is there already is not written to.
 * @throws BridgeError ledger_newer; SQLite's errors as they come
 */
export const migrate = (db: Database, migrations: readonly string[]): void => {
  const newest = migrations.length
  if (schemaVersion(db, newest) === newest) return
  const bringUp = db.transaction(() => {
    // Read again: another process may have done the same before this one got the file.
    for (const sql of migrations.slice(schemaVersion(db, newest))) db.exec(sql)
    db.pragma(`user_version = ${newest}`)
  })
  bringUp.immediate()
}
