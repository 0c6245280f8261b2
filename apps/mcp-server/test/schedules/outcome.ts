import type { Receipt } from '@codex-thread-bridge/core/ledger'
import type { Intent } from './intents.ts'
import type { Kept, Truth } from './truth.ts'

export interface Ended {
  readonly intent: Intent
  readonly marker: string
  /** After everything was restarted and reconciled; undefined: no receipt. */
  readonly receipt: Receipt | undefined
  /** Whether the App Server was killed after the first call. */
  readonly crashed: boolean
}

/** What the receipts say against what is: the first difference. */
export const outcomeFault = (ended: Ended, truth: Truth): string | undefined => {
  const fault =
    effectsFault(ended, truth) ??
    (ended.intent.tool === 'create_thread' ? creationFault(ended, truth) : messageFault(ended, truth))
  return fault && `${ended.intent.requestId} (${ended.receipt?.status ?? 'no receipt'}): ${fault}`
}

const textsOf = ({ variants }: Intent): readonly string[] => variants.flatMap(({ text }) => text ?? [])

const keptOf = (intent: Intent, truth: Truth): readonly Kept[] =>
  truth.messages.filter(({ text }) => textsOf(intent).includes(text))

/** Never more than one effect, and none of arguments that were always refused. */
const effectsFault = ({ intent, marker }: Ended, truth: Truth): string | undefined => {
  const kept = keptOf(intent, truth)
  if (kept.length > 1) return `its message is there ${kept.length} times`
  const refused = intent.variants.find((variant) => variant.onlyConflicts && variant.text === kept[0]?.text)
  if (refused?.text !== undefined) return `${refused.text} is there although it was a conflict`
  if (kept[0] !== undefined && kept[0].clientId !== marker) return 'its message has another marker'
  if (intent.threadId !== undefined && kept[0] !== undefined && kept[0].threadId !== intent.threadId)
    return 'its message is in another thread'
  const threads = truth.threads.get(marker) ?? []
  return threads.length > 1 ? `it made the threads ${threads.join(' and ')}` : undefined
}

const messageFault = (ended: Ended, truth: Truth): string | undefined => {
  const { intent, receipt } = ended
  if (receipt === undefined) return keptOf(intent, truth).length > 0 ? 'its message was sent' : undefined
  return deliveryFault(ended, receipt, keptOf(intent, truth)[0])
}

const deliveryFault = ({ crashed }: Ended, receipt: Receipt, kept: Kept | undefined): string | undefined => {
  const { status, delivery, turnId } = receipt
  if (status !== 'accepted') return kept && `its message is in turn ${kept.turnId}`
  if (kept === undefined)
    return delivery?.state === 'acknowledged' && crashed
      ? undefined
      : `its ${delivery?.state} message is lost`
  if (delivery?.state !== 'recorded') return 'its message is there and not found'
  return turnId === kept.turnId ? undefined : `turn ${turnId} is not ${kept.turnId}`
}

const creationFault = (ended: Ended, truth: Truth): string | undefined => {
  const { intent, marker, receipt } = ended
  const [threadId] = truth.threads.get(marker) ?? []
  const kept = keptOf(intent, truth)[0]
  if (receipt === undefined) return threadId === undefined ? undefined : `thread ${threadId} was made`
  const gone = receipt.status === 'outcome_unknown' || receipt.error?.code === 'not_delivered'
  if (threadId !== undefined && gone && receipt.threadId === undefined)
    return truth.readable.has(threadId) ? `thread ${threadId} was not found` : undefined
  if (threadId !== undefined && receipt.threadId !== threadId)
    return `it tells thread ${receipt.threadId}, not ${threadId}`
  if (receipt.status !== 'accepted') return kept && `its prompt is in turn ${kept.turnId}`
  if (receipt.threadId === undefined) return 'it tells no thread'
  if (!truth.readable.has(receipt.threadId)) return `its thread ${receipt.threadId} is lost`
  return receipt.promptRequested === true ? deliveryFault(ended, receipt, kept) : undefined
}
