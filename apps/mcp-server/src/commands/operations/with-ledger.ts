import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { asBridgeError, BridgeError } from '@codex-thread-bridge/core/contract'
import { ledgerPlace, openLedger, type SqliteLedger } from '@codex-thread-bridge/core/ledger'
import { findSocketPath } from '@codex-thread-bridge/core/transport'
import { ledgerPlaceOf } from '../../compose.ts'
import type { BridgeOptions } from '../../options.ts'
import { reportError, type Output } from './output.ts'

/**
 * Runs `act` on the ledger that the options name, as it is: it is not made, and other ledgers are left alone. No App
 * Server is needed. Resolves to the exit code.
 */
export const withLedger = async (
  options: BridgeOptions,
  output: Output,
  act: (ledger: SqliteLedger) => Promise<void>,
): Promise<number> => {
  const socketPath = findSocketPath({ configured: options.socket, env: process.env, homedir: homedir() })
  const place = ledgerPlaceOf(options, socketPath)
  try {
    const { path } = ledgerPlace(place)
    if (!existsSync(path))
      throw new BridgeError('ledger_unavailable', `There is no ledger at ${path}.`, {
        hint: 'The first mutation makes it. Look at --socket and --state-dir.',
      })
    const ledger = await openLedger({ ...place, importOthers: false })
    try {
      await act(ledger)
      return 0
    } finally {
      ledger.close()
    }
  } catch (error) {
    return reportError(asBridgeError(error), output)
  }
}
