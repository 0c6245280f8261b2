import { compose, ledgerPlaceOf } from '../compose.ts'
import { jsonLog } from '../log.ts'
import type { BridgeOptions } from '../options.ts'
import { printable } from '../printable.ts'
import { table } from '../table.ts'
import { version } from '../version.ts'
import { checkHome } from './doctor/check-home.ts'
import { checkLedger } from './doctor/check-ledger.ts'
import { checkServer } from './doctor/check-server.ts'
import { ok, type Check } from './doctor/check.ts'

const examine = async (options: BridgeOptions): Promise<readonly Check[]> => {
  const host = await compose(options, jsonLog(options.logLevel))
  try {
    const description = host.operations.describe()
    const server = await checkServer(description)
    return [
      ok('bridge', `${version}, Node ${process.versions.node}, ${process.platform} ${process.arch}`),
      ...server.checks,
      checkHome(server.codexHome, process.env),
      ...(await checkLedger(ledgerPlaceOf(options, description.appServer.socket.configured))),
    ]
  } finally {
    await host.close()
  }
}

const asText = (checks: readonly Check[]): string => {
  const lines = table(checks.map(({ state, name, message }) => [state, name, message])).split('\n')
  return checks
    .flatMap(({ next }, place) => [
      lines[place] ?? '',
      ...(next === undefined ? [] : [`      next: ${printable(next)}`]),
    ])
    .join('\n')
}

/** Looks at everything that the server needs, and says what is wrong and what to type. 1 when something fails. */
export const doctor = async (options: BridgeOptions, { json }: { json: boolean }): Promise<number> => {
  const checks = await examine(options)
  const healthy = checks.every(({ state }) => state !== 'fail')
  console.log(json ? JSON.stringify({ ok: healthy, checks }, null, 2) : asText(checks))
  return healthy ? 0 : 1
}
