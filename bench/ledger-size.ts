import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import type { LedgerPort } from '@codex-thread-bridge/core/ledger'
import { tempDir } from '@codex-thread-bridge/test-fixtures'
import { filledLedger, type FilledLedger } from './support/filled-ledger.ts'
import { interleave, timed } from './support/interleave.ts'
import { receiptLife } from './support/receipts.ts'
import { atMost, rowOf, type Row } from './support/row.ts'

const SMALL = 1_000
const LARGE = 1_000_000
const ROUNDS = { warmUp: 100, rounds: 1_000 }
const FINGERPRINT = '0'.repeat(64)
const LISTED = 20

type Act = (ledger: FilledLedger) => unknown

/** What a ledger is used for, with a million receipts in it against a thousand. */
export const ledgerSize = async (): Promise<readonly Row[]> => {
  const folder = tempDir('ledger')
  const small = await filledLedger(join(folder.path, 'small.sqlite3'), SMALL)
  const large = await filledLedger(join(folder.path, 'large.sqlite3'), LARGE)
  const acts: [what: string, act: Act][] = [
    ['get', ({ port, requestIds }) => port.get(requestIds[randomInt(requestIds.length)] ?? '')],
    ['list(20)', ({ port }) => port.list({ limit: LISTED })],
    ['counts', ({ port }) => port.counts()],
    ['claim, save, finish', oneOperation()],
  ]
  const rows: Row[] = []
  for (const [what, act] of acts) {
    const samples = await interleave(
      { ours: () => timed(() => act(large)), baseline: () => timed(() => act(small)) },
      ROUNDS,
    )
    rows.push(rowOf({ what: `${what}: 10⁶ receipts : 10³`, unit: 'ms', ...samples, goal: atMost(1.2) }))
  }
  for (const { port } of [small, large]) port.close()
  await folder.remove()
  return rows
}

const oneOperation = (): Act => {
  let round = 0
  return ({ port }) => operate(port, `request-${String((round += 1))}`)
}

const operate = (port: LedgerPort, requestId: string): void => {
  const { claimed, running, done } = receiptLife(requestId)
  port.claim({ fingerprint: FINGERPRINT, receipt: claimed })
  port.save(running)
  port.save(done)
}
