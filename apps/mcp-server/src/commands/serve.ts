import { existsSync } from 'node:fs'
import { BridgeError } from '@codex-thread-bridge/core/contract'
import type { Host } from '@codex-thread-bridge/core/host'
import { otherLedgerPaths } from '@codex-thread-bridge/core/ledger'
import { serveStdio } from '@codex-thread-bridge/mcp'
import { compose, ledgerPlaceOf } from '../compose.ts'
import { instructionsFor } from '../instructions.ts'
import { jsonLog } from '../log.ts'
import type { BridgeOptions } from '../options.ts'
import { version } from '../version.ts'

/** Two contents of one request id are for a person to settle, before anything is sent. Other errors come with a call. */
const refuseImportConflict = async (options: BridgeOptions, host: Host): Promise<void> => {
  const place = ledgerPlaceOf(options, host.operations.describe().appServer.socket.configured)
  if (!otherLedgerPaths(place).some((path) => existsSync(path))) return
  await host.operations.ledger().catch((error: unknown) => {
    if (BridgeError.is(error) && error.code === 'ledger_import_conflict') throw error
  })
}

/** Serves MCP on stdio until the client goes or a signal comes. */
export const serve = async (options: BridgeOptions): Promise<number> => {
  if (process.stdin.isTTY)
    process.stderr.write(
      'codex-thread-bridge: waiting for MCP on stdin, as an MCP host sends it; see --help\n',
    )
  const log = jsonLog(options.logLevel)
  const host = await compose(options, log)
  await refuseImportConflict(options, host)
  const serving = await serveStdio(host, {
    name: 'codex-thread-bridge',
    title: 'Codex Thread Bridge',
    version,
    instructions: instructionsFor(options.plugins),
    log,
  })
  log('info', 'serving', { version, tools: host.tools.length })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => serving.stop())
  await serving.closed
  return 0
}
