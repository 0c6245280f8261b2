import { compose } from '../compose.ts'
import { jsonLog } from '../log.ts'
import type { BridgeOptions } from '../options.ts'
import { table } from '../table.ts'

/** Prints what the server offers; needs neither App Server nor ledger. */
export const manifest = async (options: BridgeOptions, { json }: { json: boolean }): Promise<number> => {
  const host = await compose(options, jsonLog(options.logLevel))
  const offered = host.manifest()
  await host.close()
  if (json) {
    console.log(JSON.stringify(offered, null, 2))
    return 0
  }
  const rows = offered.plugins.flatMap((plugin) =>
    plugin.tools.map((tool) => [tool.name, tool.kind, plugin.name, tool.title]),
  )
  console.log(table([['TOOL', 'KIND', 'PLUGIN', 'TITLE'], ...rows]))
  return 0
}
