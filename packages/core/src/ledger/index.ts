export { defaultStateDir, endpointIdentity, isLedgerName, ledgerFileName } from './endpoint.ts'
export { fileSystemKind, type FileSystemKind } from './file-system.ts'
export {
  canonicalJson,
  deliveryMarker,
  fingerprint,
  FINGERPRINT_VERSION,
  type CanonicalOptions,
} from './fingerprint.ts'
export { checkIntegrity } from './integrity.ts'
export { openDatabase, type DatabaseOptions } from './database.ts'
export { asLedgerErrors, ledgerError } from './ledger-error.ts'
export { isAlive, processFacts, processOwner, type Liveness, type ProcessFacts } from './owner.ts'
export { ensurePrivateDirectory, ensurePrivateFile, isPrivateDirectory, obstacleTo } from './private-file.ts'
export { type LedgerPort, type LedgerRow, type ReceiptPage, type ReceiptQuery } from './port.ts'
export { readAs } from './read-as.ts'
export {
  Owner,
  Receipt,
  receiptFields,
  receiptOutput,
  statuses,
  type ReceiptPatch,
  type Status,
  type Step,
  type StepState,
} from './receipt.ts'
export {
  ledgerPlace,
  openLedger,
  otherLedgerPaths,
  tryImport,
  type LedgerOptions,
  type LedgerPlace,
} from './sqlite.ts'
export { type Backup } from './backup.ts'
export { type Entry, type SqliteLedger } from './sqlite-ledger.ts'
