import { asBridgeError } from '../contract/errors.ts'

const EVERY_MS = 1_000
/** What keeps a write out for now; a closed or damaged ledger does so for good. */
const KEEPS_OUT: ReadonlySet<string> = new Set(['ledger_full', 'ledger_locked', 'ledger_read_only'])

/** Writes to the ledger, now or as soon as it takes it; given up when it never will. Never throws. */
export const keepTrying = (write: () => void): void => {
  try {
    write()
  } catch (error) {
    if (KEEPS_OUT.has(asBridgeError(error).code)) setTimeout(() => keepTrying(write), EVERY_MS).unref()
  }
}
