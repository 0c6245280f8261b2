import { BridgeError, type MutationContext } from '@codex-thread-bridge/core/contract'
import type { OperationsPort } from '@codex-thread-bridge/core/host'
import type { Receipt } from '@codex-thread-bridge/core/ledger'
import { forkOf, HANDOFF, hasMoved, isOver, journalOf, type Journal } from './journal.ts'

/** A handoff of the same thread that was cut off, and what is left of it. */
export interface Earlier {
  readonly journal: Journal
  /** The thread that it had made. */
  readonly fork: string | undefined
  /** Whether its follow-up may have been sent. */
  readonly followedUp: boolean
}

type Receipts = Pick<MutationContext<never>, 'receipt' | 'receiptsOf'>

const handoffsOf = function* ({ receipt, receiptsOf }: Receipts, threadId: string): Generator<Receipt> {
  for (const other of receiptsOf(threadId))
    if (other.operation === HANDOFF && other.requestId !== receipt.requestId) yield other
}

const isOlder = (one: Receipt, other: Receipt): boolean =>
  one.startedAt < other.startedAt || (one.startedAt === other.startedAt && one.requestId < other.requestId)

/** One handoff of a thread at a time. @throws BridgeError handoff_running */
export const refuseSecond = (ctx: Receipts, threadId: string): void => {
  for (const other of handoffsOf(ctx, threadId))
    if (other.execution === 'running' && isOlder(other, ctx.receipt.current()))
      throw new BridgeError(
        'handoff_running',
        `Thread ${threadId} is being handed off already: operationId ${other.requestId}.`,
        { details: { operationId: other.requestId } },
      )
}

const mayBeSent = ({ steps }: Receipt): boolean =>
  steps.some(({ name, state }) => name === 'turn/start' && state !== 'not_sent' && state !== 'rejected')

/** The newest handoff of a thread, when something of it is left to be done; what is not known of it is looked up. */
export const earlierHandoff = async (
  ctx: Receipts,
  operations: OperationsPort,
  threadId: string,
): Promise<Earlier | undefined> => {
  // One without a journal was refused before it did anything.
  const newest = [...handoffsOf(ctx, threadId)].find((receipt) => journalOf(receipt) !== undefined)
  if (newest === undefined || newest.status === 'accepted') return undefined
  const known = newest.status === 'outcome_unknown' ? await operations.reconcile(newest.requestId) : newest
  const journal = journalOf(known)
  if (journal === undefined || isOver(journal.stage) || known.status === 'accepted') return undefined
  return { journal, fork: forkOf(known), followedUp: mayBeSent(known) }
}

/** The handoff that has moved a thread away: its id and the thread that goes on, where a receipt tells them. */
export const pastHandoff = (
  ctx: Receipts,
  threadId: string,
): { readonly operationId: string; readonly threadId: string } | undefined => {
  for (const receipt of handoffsOf(ctx, threadId)) {
    const [journal, fork] = [journalOf(receipt), forkOf(receipt)]
    if (journal !== undefined && hasMoved(journal.stage) && fork !== undefined)
      return { operationId: receipt.requestId, threadId: fork }
  }
  return undefined
}
