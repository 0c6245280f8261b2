import { createInterface } from 'node:readline'
import { openLedger } from '../../../src/ledger/index.ts'

// Holds the ledger open, and reads from it at every line on stdin.
const [path = ''] = process.argv.slice(2)
const ledger = await openLedger({ path, endpoint: '/run/app-server.sock' })
process.stdout.write('open\n')
for await (const _line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${ledger.list({ limit: 20 }).receipts.length}\n`)
}
