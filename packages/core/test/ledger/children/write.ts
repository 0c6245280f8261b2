import { openLedger } from '../../../src/ledger/index.ts'

// Claims and saves until it is killed; a line for each commit that has returned: the request id and how often it was saved.
const [stateDir = '', socketPath = '', name = ''] = process.argv.slice(2)
const ledger = await openLedger({ stateDir, socketPath })

const receiptOf = (requestId: string, saves: number) => ({
  requestId,
  operation: 'create_thread',
  status: 'accepted' as const,
  startedAt: 1,
  updatedAt: saves,
  retrySafe: false,
  next: 'none' as const,
  fingerprintVersion: 3,
  steps: [],
  saves,
  padding: 'x'.repeat(2_000),
})

for (let i = 0; ; i++) {
  const requestId = `${name} ${i}`
  ledger.claim({ fingerprint: 'f', receipt: receiptOf(requestId, 0) })
  for (let saves = 0; saves <= 3; saves++) {
    if (saves > 0) ledger.save(receiptOf(requestId, saves))
    process.stdout.write(`${JSON.stringify([requestId, saves])}\n`)
  }
  // Lets the lines out, and a checkpoint come now and then at another place.
  await new Promise(setImmediate)
}
