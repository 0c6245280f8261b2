import { writeFileSync } from 'node:fs'
import { it } from 'vitest'
import { testedVersions } from '@codex-thread-bridge/test-fixtures'
import { faultNames, type Fault } from './faults.ts'
import { playColumn } from './play.ts'
import { openStage } from './stage.ts'
import { stepNames, type StepName } from './steps.ts'
const version = testedVersions[Number(process.env.FM_V ?? 0)]!
const only = (process.env.FM_F?.split(',') ?? faultNames) as Fault[]
const rows = (process.env.FM_S?.split(',') ?? stepNames) as StepName[]
it('explores', async () => {
  const began = Date.now()
  const stage = await openStage(version, only.length * 2)
  console.log('stage', Date.now() - began)
  const out: Record<string, unknown> = {}
  for (const fault of only) {
    const t = Date.now()
    const column = await playColumn(stage, fault, rows)
    for (const [name, played] of column) {
      out[`${name} ${fault}`] = played instanceof Error ? { error: played.message, cause: String(played.cause ?? '') } : played
    }
    console.log(fault, Date.now() - t)
    writeFileSync(process.env.FM_OUT ?? `/tmp/fm-${version}.json`, JSON.stringify(out, null, 1))
  }
  await stage.world.close()
}, 900_000)
