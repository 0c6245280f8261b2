import { homedir } from 'node:os'
import type { Log, Plugin } from '@codex-thread-bridge/core/contract'
import { createHost, type Host } from '@codex-thread-bridge/core/host'
import { defaultStateDir, openLedger, type LedgerPlace } from '@codex-thread-bridge/core/ledger'
import { createAppServer } from '@codex-thread-bridge/core/transport'
import { createGoalsPlugin } from '@codex-thread-bridge/goals'
import { createOperationsPlugin } from '@codex-thread-bridge/operations'
import { createReadsPlugin } from '@codex-thread-bridge/reads'
import { createThreadsPlugin } from '@codex-thread-bridge/threads'
import type { BridgeOptions, PluginName } from './options.ts'
import { testedVersions } from './tested-versions.ts'
import { version } from './version.ts'

const plugins: Readonly<Record<PluginName, (host: Host) => Plugin>> = {
  threads: createThreadsPlugin,
  reads: createReadsPlugin,
  goals: createGoalsPlugin,
  operations: (host) => createOperationsPlugin(host.operations, { version, testedVersions }),
}

/** Where the receipts of an App Server are, as these options say. */
export const ledgerPlaceOf = ({ stateDir }: BridgeOptions, socketPath: string): LedgerPlace => ({
  stateDir: stateDir ?? defaultStateDir(process.env, homedir()),
  socketPath,
})

/** A host that is ready. It connects and opens the ledger when a call needs them. @throws BridgeError of register */
export const compose = async (options: BridgeOptions, log: Log): Promise<Host> => {
  const appServer = createAppServer({ socketPath: options.socket, version, log })
  const host = createHost({
    appServer,
    ledger: () => openLedger(ledgerPlaceOf(options, appServer.socket.configured)),
    policy: { deliveryMarkers: options.deliveryMarkers, ceiling: options.ceiling },
    limits: { callMs: options.maxCallSeconds * 1_000, resultBytes: options.maxResultBytes },
    log,
  })
  for (const name of options.plugins) host.register(plugins[name](host))
  await host.ready()
  return host
}
