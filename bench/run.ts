import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createThread } from './create-thread.ts'
import { jobs } from './jobs.ts'
import { largeHistory } from './large-history.ts'
import { ledgerSize } from './ledger-size.ts'
import { launch } from './launch.ts'
import { ledger } from './ledger.ts'
import { manyWaits } from './many-waits.ts'
import { memory } from './memory.ts'
import { reconcile } from './reconcile.ts'
import { startup } from './startup.ts'
import { machine, tableOf } from './support/report.ts'
import type { Row } from './support/row.ts'
import { tokenCost } from './token-cost.ts'
import { toolCall } from './tool-call.ts'
import { wait } from './wait.ts'

/** Every measurement by the name that runs it alone (docs/performance.md). */
const measurements: ReadonlyMap<string, () => Promise<readonly Row[]>> = new Map([
  ['tool-call', toolCall],
  ['create-thread', createThread],
  ['launch', launch],
  ['wait', wait],
  ['ledger', ledger],
  ['startup', startup],
  ['memory', memory],
  ['token-cost', tokenCost],
  ['ledger-size', ledgerSize],
  ['reconcile', reconcile],
  ['many-waits', manyWaits],
  ['large-history', largeHistory],
  ['jobs', jobs],
])

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'string' } } })
const unknown = positionals.find((name) => !measurements.has(name))
if (unknown !== undefined) {
  console.error(`no measurement ${unknown}; there are: ${[...measurements.keys()].join(', ')}`)
  process.exit(2)
}

const rows: Row[] = []
for (const [name, measure] of measurements) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  console.error(`${name} …`)
  rows.push(...(await measure()))
}
const on = machine()
console.log(tableOf(rows))
console.log(
  `\nCodex ${on.codex}, Node ${on.node}, ${on.platform}, ${String(on.cores)} cores, load ${on.load.toFixed(1)}`,
)
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ machine: on, rows }, null, 2)}\n`)
