import type { ReceiptPatch } from '../ledger/receipt.ts'
import type { Environment } from '../protocol/items.ts'

/** Members of a thread that grow with its content, or are of use to its reader only. */
const LEFT_OUT = new Set([
  'turns',
  'preview',
  'initialTurnsPage',
  'itemsBackwardsCursor',
  'turnsBackwardsCursor',
])

const kept = (members: object): ReceiptPatch =>
  Object.fromEntries(Object.entries(members).filter(([key]) => !LEFT_OUT.has(key)))

/** What a receipt keeps of a thread/start or thread/resume answer: the settings, not the conversation. */
export const settingsOf = (answer: Environment): ReceiptPatch => ({
  ...kept(answer),
  thread: kept(answer.thread),
})
