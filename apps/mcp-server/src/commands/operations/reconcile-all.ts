import { asBridgeError, given } from '@codex-thread-bridge/core/contract'
import { isUncertain, type Host } from '@codex-thread-bridge/core/host'
import { Receipt } from '@codex-thread-bridge/core/ledger'
import { opaqueCursor } from '@codex-thread-bridge/core/threads'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { UsageError } from '../../options.ts'
import { printable } from '../../printable.ts'

const LIMIT = 1_000
const LIST_PAGE = 100

/** Receipts that may be uncertain: those without an outcome first, then accepted ones whose message may still get lost. */
const STATUSES = ['outcome_unknown', 'accepted'] as const

const Place = Type.Object({
  status: Type.Enum([...STATUSES], { type: 'string' }),
  startedAt: Type.Number(),
  requestId: Type.String(),
})
type Place = Static<typeof Place>

const cursors = opaqueCursor('r', Place)
const receiptShape = Compile(Receipt)

/** As they stand on the command line. */
export interface Bounds {
  readonly limit?: string
  readonly cursor?: string
}

export interface Page {
  /** How many receipts are looked up at most. */
  readonly limit: number
  /** Where an earlier page ended. */
  readonly after?: Place
}

/** @throws UsageError for a limit or a cursor that is none */
export const pageOf = ({ limit = String(LIMIT), cursor }: Bounds): Page => {
  if (!/^[1-9]\d{0,5}$/.test(limit))
    throw new UsageError(
      `--limit must be a whole number from 1 to 999999 (received ${JSON.stringify(limit)})`,
    )
  if (cursor === undefined) return { limit: Number(limit) }
  const after = cursors.placeOf(cursor)
  if (after === undefined)
    throw new UsageError('--cursor must be one that operations reconcile --all printed')
  return { limit: Number(limit), after }
}

/** What became of one uncertain receipt. */
export interface Outcome {
  readonly requestId: string
  readonly operation: string
  readonly status: string
  /** What was found out, or the code of the error that kept us from looking. */
  readonly verdict: string
  /** Whether there is still something to find out. */
  readonly uncertain: boolean
}

/**
 * Reconciles receipts that are uncertain, one after the other, newest first.
 * @returns the cursor of the next page, or null after the last one
 * @throws BridgeError ledger_*
 */
export async function* reconcileEach(
  host: Host,
  { limit, after }: Page,
): AsyncGenerator<Outcome, string | null> {
  const done = new Set<string>()
  let last: Place | undefined
  for await (const { status, receipt } of uncertainOf(host, after)) {
    const { requestId, operation, startedAt } = receipt
    // What was just accepted comes again among the accepted ones.
    if (done.has(requestId)) continue
    if (done.size === limit) return last === undefined ? null : cursors.of(last)
    yield { requestId, operation, ...(await reconcile(host, requestId)) }
    done.add(requestId)
    last = { status, startedAt, requestId }
  }
  return null
}

/** Reconciled receipts leave the list behind the place; the ones before it have been looked at. */
async function* uncertainOf(host: Host, from: Place | undefined) {
  for (const status of STATUSES.slice(from === undefined ? 0 : STATUSES.indexOf(from.status))) {
    let after = from?.status === status ? from : undefined
    for (let more = true; more;) {
      const page = await host.operations.list({ status, limit: LIST_PAGE, ...given({ after }) })
      for (const receipt of page.receipts) if (isUncertain(receipt)) yield { status, receipt }
      const last = page.receipts.at(-1)
      more = page.more && last !== undefined
      after = last && { status, startedAt: last.startedAt, requestId: last.requestId }
    }
  }
}

const reconcile = async (
  host: Host,
  requestId: string,
): Promise<Omit<Outcome, 'requestId' | 'operation'>> => {
  try {
    const answer = await host.call('get_operation', { request_id: requestId, reconcile: true })
    const receipt = receiptShape.Parse(answer)
    const verdict = receipt.reconciliation?.verdict ?? 'known'
    return { status: receipt.status, verdict, uncertain: isUncertain(receipt) }
  } catch (thrown) {
    const error = asBridgeError(thrown)
    // Without a ledger nothing that is found can be kept.
    if (error.code.startsWith('ledger_')) throw error
    return { status: 'outcome_unknown', verdict: error.code, uncertain: true }
  }
}

export interface Summary {
  readonly uncertain: number
  readonly accepted: number
  readonly failed: number
  readonly stillUncertain: number
}

export const summarise = (outcomes: readonly Outcome[]): Summary => {
  const settled = outcomes.filter(({ uncertain }) => !uncertain)
  const accepted = settled.filter(({ status }) => status === 'accepted').length
  return {
    uncertain: outcomes.length,
    accepted,
    failed: settled.length - accepted,
    stillUncertain: outcomes.length - settled.length,
  }
}

export const lineOf = ({ requestId, operation, status, verdict }: Outcome): string =>
  [requestId, operation, verdict, status].map(printable).join('  ')

export const sentenceOf = ({ uncertain, accepted, failed, stillUncertain }: Summary): string =>
  uncertain === 0
    ? 'Nothing is uncertain.'
    : `${String(uncertain)} were uncertain: ${String(accepted)} accepted, ${String(failed)} failed, ${String(stillUncertain)} still uncertain.`
