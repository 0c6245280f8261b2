import { once } from 'node:events'
import { openLedger } from '../../../src/ledger/index.ts'

// At a word on stdin: opens the ledger of a socket, which takes over those under its other names, and prints its counts.
const [stateDir = '', socketPath = ''] = process.argv.slice(2)
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const ledger = await openLedger({ stateDir, socketPath })
process.stdout.write(JSON.stringify(ledger.counts()), () => process.exit())
