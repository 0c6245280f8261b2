import { openLedger, processOwner } from '../../../src/ledger/index.ts'

// Claims a request with one intended step, stands in line for a thread, and then hangs until it is killed.
const [path = '', requestId = '', step = ''] = process.argv.slice(2)
const ledger = await openLedger({ path, endpoint: '/run/app-server.sock' })
ledger.claim({
  fingerprint: 'f',
  receipt: {
    requestId,
    operation: 'send_message_to_thread',
    status: 'in_progress_or_unknown',
    startedAt: 1_790_000_000,
    updatedAt: 1_790_000_000,
    retrySafe: false,
    next: 'reconcile',
    owner: processOwner(),
    steps: [{ name: step, state: 'intended', at: 1_790_000_000 }],
  },
})
ledger.enqueue('thread', requestId)
process.stdout.write('held\n')
setInterval(() => {}, 60_000)
