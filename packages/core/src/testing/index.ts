export { memoryLedger, memoryStore, type MemoryLedgerOptions, type MemoryStore } from './memory-ledger.ts'
export { cannedAppServer, type CannedAppServer } from './canned-app-server.ts'
export { testPlugin, type It, type PluginUnderTest, type TestPluginOptions } from './test-plugin.ts'
