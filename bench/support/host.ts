import type { Plugin } from '@codex-thread-bridge/core/contract'
import { createHost, type Host } from '@codex-thread-bridge/core/host'
import { openLedger } from '@codex-thread-bridge/core/ledger'
import { createAppServer } from '@codex-thread-bridge/core/transport'
import type { Stage } from './stage.ts'

/** A ready host in this process, with its ledger on disk. */
export const startHost = async (
  { socketPath, stateDir }: Pick<Stage, 'socketPath' | 'stateDir'>,
  plugin: Plugin,
): Promise<Host> => {
  const host = createHost({
    appServer: createAppServer({ socketPath, version: '0.0.0', log: () => undefined }),
    ledger: () => openLedger({ stateDir, socketPath }),
  })
  host.register(plugin)
  await host.ready()
  return host
}
