export { memoryLedger, memoryStore, type MemoryLedgerOptions, type MemoryStore } from './memory-ledger.ts'
