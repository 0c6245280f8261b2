import { Compile } from 'typebox/compile'
import type { Receipt } from '../ledger/receipt.ts'
import { Environment } from '../protocol/items.ts'

const environment = Compile(Environment)

/** The environment that a receipt proves: what was in force when all of it had been compared. */
const provenBy = (receipt: Receipt): Environment | undefined => {
  if (receipt.verifiedEnvironment?.matches !== true) return undefined
  const answer: unknown = receipt.resumed ?? receipt.creation
  return environment.Check(answer) ? answer : undefined
}

export interface RecordedEnvironment {
  readonly requestId: string
  readonly environment: Environment
}

/** The environment of our newest verified receipt of a thread, and that receipt's id (receipts newest first). */
export const recordedEnvironment = (receipts: readonly Receipt[]): RecordedEnvironment | undefined => {
  for (const receipt of receipts) {
    const proven = provenBy(receipt)
    if (proven !== undefined) return { requestId: receipt.requestId, environment: proven }
  }
  return undefined
}
