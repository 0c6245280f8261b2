import { createHost, type HostOptions } from '@codex-thread-bridge/core/host'
import { methodNames, methodSpec } from '@codex-thread-bridge/core/protocol'
import { memoryLedger } from '@codex-thread-bridge/core/testing'
import { createAppServer } from '@codex-thread-bridge/core/transport'
import { createReadsPlugin } from '@codex-thread-bridge/reads'
import { type RawClient, startWorld, type World } from '@codex-thread-bridge/test-fixtures'

/** A host with the reads plugin alone. */
export const startHost = async (socketPath: string, limits: HostOptions['limits'] = {}) => {
  const appServer = createAppServer({ socketPath, version: '0.0.0', log: () => undefined })
  const host = createHost({ appServer, ledger: memoryLedger(), limits })
  host.register(createReadsPlugin())
  await host.ready()
  return host
}

/** Such a host behind the fault proxy of a world of its own. */
export const startBridge = async (version: string, config?: string) => {
  const world = await startWorld({ version, ...(config === undefined ? {} : { config }) })
  const client = await world.openClient()
  const host = await startHost(world.socketPath)
  return {
    world,
    client,
    host,
    close: async () => {
      await host.close()
      await world.close()
    },
  }
}

/** What the bridge sent that could change something, as the proxy saw it: nothing at all. */
export const mutatingRequests = ({ proxy }: World): readonly (string | undefined)[] => {
  const reads = methodNames.filter((method) => methodSpec(method).effect === 'read')
  const harmless: readonly (string | undefined)[] = ['initialize', ...reads]
  return proxy.log
    .filter(
      ({ direction, kind, method }) =>
        direction === 'to-server' && kind === 'request' && !harmless.includes(method),
    )
    .map(({ method }) => method)
}

/** A thread with one finished turn a text, oldest first. */
export const threadWithTurns = async (client: RawClient, cwd: string, texts: readonly string[]) => {
  const threadId = await client.startThread({ cwd })
  for (const text of texts) await client.runTurn(threadId, text)
  return threadId
}
