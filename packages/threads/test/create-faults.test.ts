import {
  poll,
  startWorld,
  testedVersions,
  type FaultAction,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import type { Method } from '@codex-thread-bridge/core/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshId, startBridge, type Bridge } from './bridge.ts'

const steps = [
  'thread/start',
  'thread/section/move',
  'thread/settings/update',
  'thread/name/set',
  'turn/start',
] as const satisfies readonly Method[]

const SHORT_MS = 700
const timeouts = Object.fromEntries(steps.map((method) => [method, SHORT_MS]))

/** What happens to a step, and whether the server carried it out. */
const faults: readonly {
  readonly name: string
  readonly action: FaultAction
  readonly state: string
  readonly reached: 0 | 1
}[] = [
  { name: 'its answer is lost with the connection', action: { cut: 'after' }, state: 'unknown', reached: 1 },
  { name: 'the connection is cut before it', action: { cut: 'before' }, state: 'unknown', reached: 0 },
  { name: 'it gets no answer in time', action: 'drop', state: 'unknown', reached: 0 },
  {
    name: 'the server answers with an error',
    action: { respond: { error: { code: -32600, message: 'no' } } },
    state: 'rejected',
    reached: 0,
  },
]

/** How a creation ends when a step does (design: receipts, last table). */
const endOf = (step: Method, state: string) => {
  if (state === 'unknown') return { status: 'outcome_unknown', next: 'reconcile' }
  return {
    status: 'failed',
    next: step === 'thread/start' ? 'new_request_id' : 'inspect',
    rpcError: { code: -32600, message: 'no' },
  }
}

/** What reconciliation then finds, on a server that lives on. */
const verdictOf = (step: Method, reached: 0 | 1) => {
  if (step === 'thread/start')
    return reached === 1
      ? { verdict: 'created_incomplete', status: 'failed', next: 'new_request_id' }
      : { verdict: 'not_found', status: 'outcome_unknown', next: 'reconcile' }
  if (step !== 'turn/start')
    return { verdict: 'created_incomplete', status: 'failed', next: 'new_request_id' }
  return reached === 1
    ? { verdict: 'created', status: 'accepted', next: 'none' }
    : { verdict: 'not_found', status: 'outcome_unknown', next: 'reconcile' }
}

describe.each(testedVersions)('a creation on App Server %s whose', (version) => {
  let world: World
  let bridge: Bridge

  beforeAll(async () => {
    world = await startWorld({ version })
    bridge = await startBridge({ socketPath: world.socketPath, timeouts })
  })
  afterAll(async () => {
    await bridge?.close()
    await world?.close()
  })

  describe.each(steps)('%s step fails because', (step) => {
    it.each(faults)(
      '$name: tells what is known, and reconciliation finds the truth',
      async ({ action, state, reached }) => {
        const request_id = freshId('fault')
        const args = { request_id, cwd: world.cwd, title: 'Title', prompt: request_id }
        const before = world.proxy.reached(step).length
        const rule = world.proxy.on({ direction: 'to-server', kind: 'request', method: step }, action)
        const receipt = await bridge.call('create_thread', args)
        await rule.waitFired()
        rule.remove()

        expect(receipt).toMatchObject(endOf(step, state))
        expect(receipt.steps.at(-1)).toMatchObject({ name: step, state })
        expect(receipt.threadId === undefined).toBe(step === 'thread/start')
        expect(world.proxy.reached(step).length - before).toBe(reached)

        const again = await bridge.call('create_thread', args)
        expect(again).toMatchObject({ replayed: true, status: receipt.status })
        expect(world.proxy.reached(step).length - before).toBe(reached)

        // The server may still be at it: reconciliation then says so, and is asked again.
        const expected = state === 'unknown' ? verdictOf(step, reached).verdict : undefined
        const found = await poll(
          async () => {
            const receipt = await bridge.reconcile(request_id)
            return receipt.reconciliation?.verdict === expected && receipt
          },
          { what: `the verdict ${expected}` },
        )
        if (state === 'unknown') {
          const { verdict, ...rest } = verdictOf(step, reached)
          expect(found).toMatchObject({ ...rest, reconciliation: { verdict, serverVersion: version } })
          if (reached === 1 || step !== 'thread/start') expect(found.threadId).toBeTypeOf('string')
        } else expect(found).toEqual({ ...again, replayed: false })
      },
    )
  })
})
