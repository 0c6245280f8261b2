import { serveStdio } from '@codex-thread-bridge/mcp'
import { compose } from '../compose.ts'
import { instructions } from '../instructions.ts'
import { jsonLog } from '../log.ts'
import type { BridgeOptions } from '../options.ts'
import { version } from '../version.ts'

/** Serves MCP on stdio until the client goes or a signal comes. */
export const serve = async (options: BridgeOptions): Promise<number> => {
  if (process.stdin.isTTY)
    process.stderr.write(
      'codex-thread-bridge: waiting for MCP on stdin, as an MCP host sends it; see --help\n',
    )
  const log = jsonLog(options.logLevel)
  const host = await compose(options, log)
  const serving = await serveStdio(host, {
    name: 'codex-thread-bridge',
    title: 'Codex Thread Bridge',
    version,
    instructions,
    log,
  })
  log('info', 'serving', { version, tools: host.tools.length })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => serving.stop())
  await serving.closed
  return 0
}
