import { parseArgs } from 'node:util'
import { NEWEST_CODEX } from '@codex-thread-bridge/test-fixtures'
import fc from 'fast-check'
import { crowd } from '../apps/mcp-server/test/crowd/crowd.ts'
import { fuzz } from '../apps/mcp-server/test/fuzz/fuzz.ts'
import { checkSchedules } from '../apps/mcp-server/test/schedules/check.ts'

const HELP = `npm run soak -- [what] [options]

  --schedules N   N random schedules against a real App Server
  --crowd N       N calls through eight bridges on one ledger
  --fuzz N        N random arguments of all tools
  --seed S        what to repeat; a fresh one unless given
  --path P        of a counterexample, with its seed (its timing may differ)
  --version V     Codex version (default ${NEWEST_CODEX})
  --workers W     so many seeds of schedules at once, from S on (default 1)
`
const TOLD_EVERY = 50

const { values } = parseArgs({
  options: {
    schedules: { type: 'string' },
    crowd: { type: 'string' },
    fuzz: { type: 'string' },
    seed: { type: 'string' },
    path: { type: 'string' },
    version: { type: 'string' },
    workers: { type: 'string' },
    help: { type: 'boolean' },
  },
})

const number = (text: string | undefined, standard: number): number => {
  const value = text === undefined ? standard : Number(text)
  if (!Number.isSafeInteger(value)) throw new Error(`${text} is no whole number\n\n${HELP}`)
  return value
}

const { version = NEWEST_CODEX, path } = values
const seed = number(values.seed, Math.floor(Math.random() * 1_000_000))
const replayed = path === undefined ? {} : { path }

const tell = (what: string, fault: string | null | undefined, began: number): void => {
  const seconds = Math.round((performance.now() - began) / 1_000)
  console.log(`${what}: ${fault ?? 'as promised'} (${seconds} s)`)
  if (typeof fault === 'string') process.exitCode = 1
}

const soakSchedules = async (count: number, ownSeed: number): Promise<void> => {
  const began = performance.now()
  const onPlayed = (played: number): void => {
    if (played % TOLD_EVERY === 0) console.log(`seed ${ownSeed}: ${played} played`)
  }
  const { report, met } = await checkSchedules({
    version,
    schedules: count,
    seed: ownSeed,
    onPlayed,
    ...replayed,
  })
  tell(
    `${report.numRuns} schedules, Codex ${version}, seed ${ownSeed}`,
    fc.defaultReportMessage(report),
    began,
  )
  for (const [kind, times] of met) console.log(`  ${times} × ${kind}`)
}

if (
  values.help === true ||
  [values.schedules, values.crowd, values.fuzz].every((given) => given === undefined)
)
  console.log(HELP)
if (values.schedules !== undefined) {
  const workers = path === undefined ? number(values.workers, 1) : 1
  const each = Math.ceil(number(values.schedules, 0) / workers)
  await Promise.all(Array.from({ length: workers }, (_, worker) => soakSchedules(each, seed + worker)))
}
if (values.crowd !== undefined) {
  const began = performance.now()
  const report = await crowd({ version, bridges: 8, requests: number(values.crowd, 0), seed })
  const { errors, lost, miscounted, misordered } = report
  const faults = { errors, lost, miscounted, misordered }
  const fault = Object.values(faults).some((list) => list.length > 0) ? JSON.stringify(faults) : undefined
  tell(`${report.calls} calls of ${report.ids} ids, Codex ${version}, seed ${seed}`, fault, began)
}
if (values.fuzz !== undefined) {
  const began = performance.now()
  const { report, counts } = await fuzz({ runs: number(values.fuzz, 0), seed, ...replayed })
  const what = `${report.numRuns} arguments (${JSON.stringify(counts)}), seed ${seed}`
  tell(what, fc.defaultReportMessage(report), began)
}
