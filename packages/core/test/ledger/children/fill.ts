import { openLedger, type LedgerPort } from '../../../src/ledger/index.ts'

// Opens the ledger, claims until that fails (or 1,000 times) and prints how it ended and what stands.
const [path = ''] = process.argv.slice(2)

const claim = (ledger: LedgerPort, requestId: string) =>
  ledger.claim({
    fingerprint: 'f',
    receipt: {
      requestId,
      operation: 'create_thread',
      status: 'accepted',
      startedAt: 1,
      updatedAt: 1,
      retrySafe: false,
      next: 'none',
      steps: [],
      padding: 'x'.repeat(4_000),
    },
  })

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : String(error)

const fill = (ledger: LedgerPort) => {
  let claimed = 0
  try {
    for (; claimed < 1_000; claimed++) claim(ledger, `request-${claimed}`)
  } catch (error) {
    const kept = ledger.counts().operations
    const replay = claim(ledger, 'request-0').won ? 'claimed again' : 'replayed'
    return { code: codeOf(error), lost: claimed - kept, replay }
  }
  return { code: 'no error' }
}

const openAndFill = async () => {
  try {
    return fill(await openLedger({ path, endpoint: '/run/app-server.sock' }))
  } catch (error) {
    return { opening: codeOf(error) }
  }
}

process.stdout.write(JSON.stringify(await openAndFill()))
