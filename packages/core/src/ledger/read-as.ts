import { methodNames, methodSpec } from '../protocol/methods.ts'
import type { Liveness } from './owner.ts'
import type { Receipt } from './receipt.ts'

/**
 * A receipt as every reader sees it. An open one whose owner is gone has become what its steps prove: `failed` /
 * `not_sent` when nothing was intended that could leave a trace, else `outcome_unknown`. Pure but for
 * `isAlive`. The receipt must have been read after the death that `isAlive` tells of, as the ledger's own reads take
 * care of: an owner may save until it dies.
 */
export const readAs = (receipt: Receipt, isAlive: Liveness): Receipt => {
  if (receipt.status !== 'in_progress_or_unknown') return receipt
  if (receipt.owner === undefined) return leftOpen(receipt)
  if (isAlive(receipt.owner)) return { ...receipt, execution: 'running' }
  return receipt.steps.some(mayHaveActed) ? interrupted(receipt) : notSent(receipt)
}

const mayHaveActed = (step: Receipt['steps'][number]): boolean =>
  step.state !== 'not_sent' && settles(step.name)

/** Steps that are not App Server methods (Git, processes, files) always count. */
const settles = (step: string): boolean => {
  const method = methodNames.find((name) => name === step)
  return method === undefined || methodSpec(method).settles !== false
}

const leftOpen = (receipt: Receipt): Receipt => ({
  ...receipt,
  status: 'outcome_unknown',
  next: 'reconcile',
  error: receipt.error ?? {
    code: 'outcome_unknown',
    message: 'The receipt was left open by a bridge that did not record its process.',
  },
})

const interrupted = (receipt: Receipt): Receipt => ({
  ...receipt,
  status: 'outcome_unknown',
  execution: 'interrupted',
  next: 'reconcile',
  error: receipt.error ?? {
    code: 'interrupted',
    message: 'The bridge process ended while the action ran.',
  },
})

const notSent = (receipt: Receipt): Receipt => {
  const read: Receipt = {
    ...receipt,
    status: 'failed',
    next: 'new_request_id',
    error: { code: 'not_sent', message: 'The bridge process ended before anything was sent.' },
  }
  delete read.execution
  return read
}
