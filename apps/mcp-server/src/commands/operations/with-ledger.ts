import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { asBridgeError, BridgeError } from '@codex-thread-bridge/core/contract'
import {
  isLedgerName,
  isPrivateDirectory,
  ledgerPlace,
  openLedger,
  otherLedgerPaths,
  type LedgerPlace,
  type SqliteLedger,
} from '@codex-thread-bridge/core/ledger'
import { findSocketPath } from '@codex-thread-bridge/core/transport'
import { ledgerPlaceOf } from '../../compose.ts'
import type { BridgeOptions } from '../../options.ts'
import { reportError, type Output } from './output.ts'

/** The place of the ledger that the options name. */
export const placeOf = (options: BridgeOptions): LedgerPlace =>
  ledgerPlaceOf(options, findSocketPath({ configured: options.socket, env: process.env, homedir: homedir() }))

/** Looking at receipts makes no ledger, nor a directory for one. */
export class NoLedger extends BridgeError {
  /** Whether there is nothing to look at: no ledger of another App Server either, which --socket would name. */
  readonly nothing: boolean

  constructor(path: string) {
    const others = otherServers(path)
    const beside = others.length === 0 ? '' : ` Of other App Servers there are: ${others.join(', ')}.`
    super('ledger_unavailable', `There is no ledger at ${path}.${beside}`, {
      hint: 'The first mutation makes it. Look at --socket and --state-dir.',
    })
    this.nothing = others.length === 0
  }
}

/** The ledgers of other App Servers in the same directory. */
const otherServers = (path: string): readonly string[] =>
  existsSync(dirname(path)) ? readdirSync(dirname(path)).filter(isLedgerName) : []

/** What is missing where anybody could put it is told of as an opening would: the place is not private. */
const requireOne = (path: string, files: readonly string[]): void => {
  if (!isPrivateDirectory(dirname(path)) || !files.some((file) => existsSync(file))) throw new NoLedger(path)
}

/** The ledger, with what stands under other names taken over. @throws NoLedger when there is none under any name */
export const openExisting = (place: LedgerPlace): Promise<SqliteLedger> => {
  const { path } = ledgerPlace(place)
  requireOne(path, [path, ...otherLedgerPaths(place)])
  return openLedger(place)
}

/**
 * Runs `act` on the ledger that the options name, as it is: it is not made, and other ledgers are left alone. No App
 * Server is needed. Resolves to the exit code.
 */
export const withLedger = async (
  options: BridgeOptions,
  output: Output,
  act: (ledger: SqliteLedger) => Promise<void>,
): Promise<number> => {
  const place = placeOf(options)
  try {
    const { path } = ledgerPlace(place)
    requireOne(path, [path])
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
