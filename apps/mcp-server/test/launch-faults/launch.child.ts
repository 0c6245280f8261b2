import type { LedgerPort, Receipt } from '@codex-thread-bridge/core/ledger'
import { hostBridge } from '../fault-matrix/bridges.ts'
import type { ChildLaunch } from './child.ts'
import { places, writes } from './places.ts'

/** One launch by a bridge of its own, which kills itself where it is told to. */
const { socketPath, stateDir, args, dies } = JSON.parse(process.argv[2] ?? '') as ChildLaunch

const die = (): void => void process.kill(process.pid, 'SIGKILL')

const never = (): boolean => false

/** Before or after which receipts it dies: an outcome is not written any more. */
const deaths = (): Record<'before' | 'after', (receipt: Receipt) => boolean> => {
  if (dies === undefined) return { before: never, after: never }
  if ('phase' in dies) return { before: never, after: (receipt) => receipt.phase === dies.phase }
  const kind = writes(places[dies.at], dies.when)
  return dies.when === 'begin' ? { before: never, after: kind } : { before: kind, after: never }
}

const mortal = (ledger: LedgerPort): LedgerPort => {
  const { before, after } = deaths()
  return {
    ...ledger,
    claim: (row) => {
      const claimed = ledger.claim(row)
      if (after(row.receipt)) die()
      return claimed
    },
    save: (receipt) => {
      if (before(receipt)) die()
      ledger.save(receipt)
      if (after(receipt)) die()
    },
  }
}

const bridge = await hostBridge({ socketPath, stateDir, ledger: mortal })
await bridge.call('create_worktree_thread', args)
await bridge.close()
