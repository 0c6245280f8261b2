import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Database } from 'better-sqlite3'
import { BridgeError } from '../contract/errors.ts'
import type { OpenFile } from './driver.ts'
import { sha256 } from './fingerprint.ts'
import { asLedgerErrors, ledgerError } from './ledger-error.ts'
import { schemaVersion } from './migrations.ts'
import { isPrivateFile } from './private-file.ts'
import { CLAIM, GET } from './statements.ts'

/** What was taken from which file, and how that file looked then. Only ledgers that import have these tables. */
const TABLES = `
  CREATE TABLE IF NOT EXISTS imports (
    file TEXT NOT NULL,
    request_id TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (file, request_id)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS imported_files (file TEXT PRIMARY KEY, state TEXT NOT NULL);
`
const ALL = 'SELECT request_id AS requestId, fingerprint, receipt FROM operations'
const HAS_OPERATIONS = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'operations'"
const FOLLOW = 'UPDATE operations SET receipt = ? WHERE request_id = ?'
const TAKEN = 'SELECT content FROM imports WHERE file = ? AND request_id = ?'
const TAKE = 'INSERT OR REPLACE INTO imports (file, request_id, content) VALUES (?, ?, ?)'
const ORIGIN = 'SELECT file FROM imports WHERE request_id = ? AND content = ?'
const FILE_STATE = 'SELECT state FROM imported_files WHERE file = ?'
const SEEN = 'INSERT OR REPLACE INTO imported_files (file, state) VALUES (?, ?)'

interface Content {
  readonly fingerprint: string
  readonly receipt: string
}
type Row = Content & { readonly requestId: string }

interface Source {
  readonly path: string
  /** As it was before its rows were read; undefined when that would not show every later write. */
  readonly state: string | undefined
  readonly db: Database
}

export interface ImportOptions {
  readonly path: string
  /** Ledgers of the same endpoint under other names; those that do not exist are passed over. */
  readonly others: readonly string[]
  readonly busyTimeoutMs: number
  readonly open: OpenFile
}

/**
 * Copies the rows of other ledgers of this endpoint into an open one, all or nothing; the files stay as they are. A
 * row that was taken before is not looked at again, unless its own bridge went on with it and we did not.
 * @throws BridgeError ledger_import_conflict for a request id with two contents; ledger_* naming the other file
 */
export const importLedgers = (db: Database, options: ImportOptions): void => {
  const existing = options.others.filter(isPrivateFile)
  if (existing.length === 0) return
  db.exec(TABLES)
  const sources: Source[] = []
  try {
    for (const path of existing) {
      const source = openSource(db, path, options)
      if (source !== undefined) sources.push(source)
    }
    if (sources.length > 0) db.transaction(() => takeAll(db, options.path, sources)).immediate()
  } finally {
    for (const source of sources) source.db.close()
  }
}

/** Undefined when the file has not changed since it was imported. */
const openSource = (db: Database, path: string, options: ImportOptions): Source | undefined =>
  asLedgerErrors(path, () => {
    const state = stateOf(path)
    const before = db.prepare<[string], string>(FILE_STATE).pluck().get(basename(path))
    if (state !== undefined && state === before) return undefined
    // Not read-only: a journal that a crash left behind has to be played back first.
    const source = options.open(path, { timeout: options.busyTimeoutMs })
    try {
      schemaVersion(source)
      source.pragma('query_only = ON')
      return { path, state, db: source }
    } catch (error) {
      source.close()
      throw error
    }
  })

/** Two writes within one tick of the file system's clock look alike: a file that was just written is not remembered. */
const SETTLED_MS = 2_000

/** What changes with every write; no look inside, since closing a file drops this process's locks on it. */
const stateOf = (path: string): string | undefined => {
  const journals = ['-wal', '-journal'].map((end) => statSync(path + end, { throwIfNoEntry: false }))
  const { ino, size, mtimeMs, mtimeNs } = statSync(path, { bigint: true })
  const settled = Date.now() - Number(mtimeMs) >= SETTLED_MS
  return settled && journals.every((journal) => !journal?.size) ? [ino, size, mtimeNs].join(' ') : undefined
}

const takeAll = (db: Database, path: string, sources: readonly Source[]): void => {
  const take = taker(db, path)
  const seen = db.prepare<[string, string]>(SEEN)
  for (const source of sources) {
    for (const row of rowsOf(source)) take(source.path, row)
    if (source.state !== undefined) seen.run(basename(source.path), source.state)
  }
}

function* rowsOf({ path, db }: Source): Iterable<Row> {
  try {
    // A bridge that ended before it made its table left nothing to take.
    if (db.prepare(HAS_OPERATIONS).get() !== undefined) yield* db.prepare<[], Row>(ALL).iterate()
  } catch (error) {
    throw ledgerError(path, error)
  }
}

const taker = (db: Database, path: string) => {
  const get = db.prepare<[string], Content>(GET)
  const claim = db.prepare<[string, string, string]>(CLAIM)
  const follow = db.prepare<[string, string]>(FOLLOW)
  const taken = db.prepare<[string, string], string>(TAKEN).pluck()
  const remember = db.prepare<[string, string, string]>(TAKE)
  const origin = db.prepare<[string, string], string>(ORIGIN).pluck()

  /** Another one of the files when ours has it from there, which may be undone with this import. */
  const standsIn = (requestId: string, ours: Content): string => {
    const file = origin.get(requestId, digestOf(ours))
    return file === undefined ? path : join(dirname(path), file)
  }

  return (from: string, row: Row): void => {
    const { requestId } = row
    const content = digestOf(row)
    const before = taken.get(basename(from), requestId)
    if (before === content) return
    const ours = get.get(requestId)
    if (ours === undefined) claim.run(requestId, row.fingerprint, row.receipt)
    else if (!sameContent(ours, row)) {
      // Ours is still what that file said: its bridge has gone on with it since.
      const standsAsTaken = before === digestOf(ours) && ours.fingerprint === row.fingerprint
      if (!standsAsTaken) throw conflict(requestId, standsIn(requestId, ours), from)
      follow.run(row.receipt, requestId)
    }
    remember.run(basename(from), requestId, content)
  }
}

const digestOf = ({ fingerprint, receipt }: Content): string => sha256(`${fingerprint}\0${receipt}`)

const sameContent = (a: Content, b: Content): boolean =>
  a.fingerprint === b.fingerprint &&
  (a.receipt === b.receipt || isDeepStrictEqual(parsed(a.receipt), parsed(b.receipt)))

/** Receipts that are no JSON are the same only letter for letter. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const conflict = (requestId: string, one: string, other: string): BridgeError =>
  new BridgeError(
    'ledger_import_conflict',
    `request_id ${JSON.stringify(requestId)} stands in ${one} and in ${other} with different contents.`,
    { details: { requestId, files: [one, other] } },
  )
