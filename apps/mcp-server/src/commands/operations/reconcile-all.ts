import { asBridgeError } from '@codex-thread-bridge/core/contract'
import type { Host } from '@codex-thread-bridge/core/host'
import { Receipt } from '@codex-thread-bridge/core/ledger'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

const receiptShape = Compile(Receipt)
const pageShape = Compile(
  Type.Object({
    data: Type.Array(Type.Object({ requestId: Type.String(), operation: Type.String() })),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
  }),
)

/** What became of one uncertain receipt. */
export interface Outcome {
  readonly requestId: string
  readonly operation: string
  readonly status: string
  /** What was found out, or the code of the error that kept us from looking. */
  readonly verdict: string
}

/** Reconciles every receipt that is uncertain, one after the other, newest first. @throws BridgeError ledger_* */
export async function* reconcileEach(host: Host): AsyncIterable<Outcome> {
  for await (const { requestId, operation } of uncertainOf(host)) {
    yield { requestId, operation, ...(await reconcile(host, requestId)) }
  }
}

/** Reconciled receipts leave the list behind the cursor; the ones before it have been looked at. */
async function* uncertainOf(host: Host) {
  let cursor: string | null = null
  do {
    const args = { status: 'outcome_unknown', limit: 100, cursor }
    const page: ReturnType<typeof pageShape.Parse> = pageShape.Parse(await host.call('list_operations', args))
    yield* page.data
    cursor = page.nextCursor
  } while (cursor !== null)
}

const reconcile = async (host: Host, requestId: string): Promise<Pick<Outcome, 'status' | 'verdict'>> => {
  try {
    const answer = await host.call('get_operation', { request_id: requestId, reconcile: true })
    const { status, reconciliation } = receiptShape.Parse(answer)
    return { status, verdict: reconciliation?.verdict ?? 'known' }
  } catch (thrown) {
    const error = asBridgeError(thrown)
    // Without a ledger nothing that is found can be kept.
    if (error.code.startsWith('ledger_')) throw error
    return { status: 'outcome_unknown', verdict: error.code }
  }
}

export interface Summary {
  readonly uncertain: number
  readonly accepted: number
  readonly failed: number
  readonly stillUncertain: number
}

export const summarise = (outcomes: readonly Outcome[]): Summary => {
  const count = (status: string): number => outcomes.filter((outcome) => outcome.status === status).length
  const [accepted, failed] = [count('accepted'), count('failed')]
  return {
    uncertain: outcomes.length,
    accepted,
    failed,
    stillUncertain: outcomes.length - accepted - failed,
  }
}

export const lineOf = ({ requestId, operation, status, verdict }: Outcome): string =>
  [requestId, operation, verdict, status].join('  ')

export const sentenceOf = ({ uncertain, accepted, failed, stillUncertain }: Summary): string =>
  uncertain === 0
    ? 'Nothing is uncertain.'
    : `${String(uncertain)} were uncertain: ${String(accepted)} accepted, ${String(failed)} failed, ${String(stillUncertain)} still uncertain.`
