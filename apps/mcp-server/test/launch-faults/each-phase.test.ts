import { NEWEST_CODEX, startWorld } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostBridge } from '../fault-matrix/bridges.ts'
import { standingAt } from '../fault-matrix/destination.ts'
import { launchPromises } from '../fault-matrix/launch-promises.ts'
import { openTruth } from '../fault-matrix/truth.ts'
import { launchThatDies } from './child.ts'
import { openSite, type Stage } from './site.ts'

/**
 * What `get_operation` reads when the bridge died right after a phase was written, and after reconciliation.
 * `thread_named` is the end of a step: it is written together with what follows, here the next phase.
 */
const phases = [
  ['validating', 'failed', null, 'nothing'],
  ['reserving_destination', 'failed', null, 'nothing'],
  ['creating_worktree', 'outcome_unknown', 'created_incomplete', 'empty'],
  ['checking_out_worktree', 'outcome_unknown', 'created_incomplete', 'registered'],
  ['checking_worktree', 'outcome_unknown', 'created_incomplete', 'whole'],
  ['worktree_checked', 'outcome_unknown', 'created_incomplete', 'whole'],
  ['creating_thread', 'outcome_unknown', 'created_incomplete', 'whole'],
  ['checking_environment', 'outcome_unknown', 'created_incomplete', 'whole'],
  ['materializing_thread', 'outcome_unknown', 'created_incomplete', 'whole'],
  ['naming_thread', 'outcome_unknown', 'created_incomplete', 'whole'],
  ['checking_before_dispatch', 'outcome_unknown', 'created_incomplete', 'whole'],
  ['dispatching_initial_prompt', 'outcome_unknown', 'created_incomplete', 'whole'],
  ['initial_prompt_accepted', 'outcome_unknown', 'created', 'whole'],
  ['complete', 'accepted', null, 'whole'],
] as const

describe('a bridge that is killed right after it wrote a phase', () => {
  let stage: Stage
  beforeAll(async () => {
    const world = await startWorld({ version: NEWEST_CODEX, config: 'sandbox_mode = "danger-full-access"' })
    stage = { world, truth: await openTruth(world) }
  })
  afterAll(() => stage?.world.close())

  it.concurrent.each(phases)(
    '%s: %s, then %s with %s at the destination',
    async (phase, status, verdict, standing) => {
      const site = await openSite(stage, 'validating', 'bridgeKilledBefore')
      const { lane, args, repository, destination, requestId } = site
      const place = { socketPath: lane.socketPath, stateDir: lane.stateDir }
      await launchThatDies({ ...place, args: { ...args, title: 'Title' }, dies: { phase } })
      const bridge = await hostBridge(place)
      try {
        expect(await bridge.get(requestId)).toMatchObject({ receipt: { status, phase } })
        const found = await bridge.reconcile(requestId)
        if ('error' in found) throw new Error(found.error.code)
        expect(found.receipt.reconciliation?.verdict ?? null).toBe(verdict)
        expect(found.receipt.phase).toBe(verdict === 'created' ? 'complete' : phase)
        expect(await standingAt(repository, destination, requestId)).toBe(standing)
        const broken = launchPromises(found.receipt, standing).filter(([holds]) => !holds)
        expect(broken).toEqual([])
      } finally {
        await bridge.close()
        await site.close()
      }
    },
  )
})
