import { once } from 'node:events'
import { openLedger, processOwner } from '../../../src/ledger/index.ts'

// At a word on stdin: opens the ledger, claims every id and prints those it won.
const [path = '', count = ''] = process.argv.slice(2)
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const ledger = await openLedger({ path, endpoint: '/run/app-server.sock' })
const won: string[] = []
for (let i = 0; i < Number(count); i++) {
  const requestId = `request-${i}`
  const claim = ledger.claim({
    fingerprint: String(process.pid),
    receipt: {
      requestId,
      operation: 'create_thread',
      status: 'in_progress_or_unknown',
      startedAt: i,
      updatedAt: i,
      retrySafe: false,
      next: 'reconcile',
      owner: processOwner(),
      steps: [],
    },
  })
  if (claim.won) won.push(requestId)
}
ledger.close()
process.stdout.write(JSON.stringify({ pid: process.pid, won }), () => process.exit())
