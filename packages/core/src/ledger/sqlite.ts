import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { openDatabase } from './database.ts'
import { loadDriver } from './driver.ts'
import { endpointIdentity, ledgerNameOf, otherLedgerNames } from './endpoint.ts'
import { fileSystemKind, type FileSystemKind } from './file-system.ts'
import { importLedgers } from './import.ts'
import { ledgerError } from './ledger-error.ts'
import { schemaVersion } from './migrations.ts'
import { isAlive, processOwner, type Liveness } from './owner.ts'
import type { Owner } from './receipt.ts'
import { sqliteLedger, type SqliteLedger } from './sqlite-ledger.ts'

/** Which file: the one of an App Server's socket in a state directory, or a given one with its endpoint identity. */
export type LedgerPlace =
  | { readonly stateDir: string; readonly socketPath: string }
  | { readonly path: string; readonly endpoint: string }

export type LedgerOptions = LedgerPlace & {
  /** Who stands in line for threads; this process unless given. */
  readonly owner?: Owner
  readonly isAlive?: Liveness
  /** How long a call waits for a lock of another process, in milliseconds; 10 s unless given. */
  readonly busyTimeoutMs?: number
  /** False: ledgers of the same endpoint under other names are left alone; to look at a file as it is. */
  readonly importOthers?: boolean
  /** What holds the file; looked up unless given. */
  readonly fileSystem?: (path: string) => FileSystemKind
}

const BUSY_TIMEOUT_MS = 10_000

/** Path and endpoint identity of a ledger, without touching the file. */
export const ledgerPlace = (place: LedgerPlace): { readonly path: string; readonly endpoint: string } => {
  if ('path' in place) return { path: place.path, endpoint: place.endpoint }
  return {
    path: join(place.stateDir, ledgerNameOf(place.socketPath)),
    endpoint: endpointIdentity(place.socketPath),
  }
}

/** Ledgers of the same endpoint under other names, whether or not they exist (contract: receipts, The ledger file). */
export const otherLedgerPaths = (place: LedgerPlace): readonly string[] =>
  'path' in place ? [] : otherLedgerNames(place.socketPath).map((name) => join(place.stateDir, name))

/**
 * Opens the ledger of an App Server endpoint, making directory (0700) and file (0600) where they are missing, and takes
 * over what older bridges kept under other names. Several processes may have it open. Needs the optional package
 * better-sqlite3, loaded here and not before.
 * @throws BridgeError ledger_driver_missing, ledger_not_private, ledger_newer, ledger_corrupt, ledger_read_only,
 *   ledger_locked, ledger_full, ledger_unavailable, ledger_import_conflict
 */
export const openLedger = async (options: LedgerOptions): Promise<SqliteLedger> => {
  const { path, endpoint } = ledgerPlace(options)
  const { busyTimeoutMs = BUSY_TIMEOUT_MS, fileSystem = fileSystemKind, importOthers = true } = options
  let db: Database | undefined
  try {
    const open = await loadDriver()
    db = await openDatabase({ path, busyTimeoutMs, fileSystem })
    if (importOthers) importLedgers(db, { path, others: otherLedgerPaths(options), busyTimeoutMs, open })
    return sqliteLedger(db, {
      path,
      endpoint,
      owner: options.owner ?? processOwner(),
      isAlive: options.isAlive ?? isAlive,
    })
  } catch (error) {
    db?.close()
    throw ledgerError(path, error)
  }
}

/**
 * Whether the next opening can take over the ledgers under other names, found out by doing it and taking it all back.
 * False: there is nothing to be taken over by a ledger that is there.
 * @throws BridgeError ledger_import_conflict, and what else openLedger throws
 */
export const tryImport = async (place: LedgerPlace): Promise<boolean> => {
  const { path } = ledgerPlace(place)
  const others = otherLedgerPaths(place).filter((other) => existsSync(other))
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (others.length === 0 || size === 0) return false
  const undone = new Error('undone')
  let db: Database | undefined
  try {
    const open = await loadDriver()
    const own = (db = open(path, { timeout: BUSY_TIMEOUT_MS }))
    schemaVersion(own)
    const options = { path, others, busyTimeoutMs: BUSY_TIMEOUT_MS, open }
    own
      .transaction(() => {
        importLedgers(own, options)
        throw undone
      })
      .immediate()
    return true
  } catch (error) {
    if (error === undone) return true
    throw ledgerError(path, error)
  } finally {
    db?.close()
  }
}
