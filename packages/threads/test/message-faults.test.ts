import type { Method } from '@codex-thread-bridge/core/protocol'
import {
  holdReply,
  poll,
  startWorld,
  testedVersions,
  textAt,
  type FaultAction,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshId, startBridge, type Bridge } from './bridge.ts'

const SHORT_MS = 700
const timeouts = Object.fromEntries(
  ['thread/resume', 'turn/start', 'turn/steer', 'thread/queue/add'].map((method) => [method, SHORT_MS]),
)

const faults: readonly {
  readonly name: string
  readonly action: FaultAction
  readonly reached: 0 | 1
  readonly known: boolean
}[] = [
  { name: 'its answer is lost with the connection', action: { cut: 'after' }, reached: 1, known: false },
  { name: 'the connection is cut before it', action: { cut: 'before' }, reached: 0, known: false },
  { name: 'it gets no answer in time', action: 'drop', reached: 0, known: false },
  {
    name: 'the server answers with an error',
    action: { respond: { error: { code: -32600, message: 'no' } } },
    reached: 0,
    known: true,
  },
]

/** How a message ends when a step does: only the step that carries it can leave its outcome unknown. */
const endOf = (step: Method, known: boolean) => {
  if (known) return { status: 'failed', next: 'new_request_id', rpcError: { code: -32600, message: 'no' } }
  return step === 'thread/resume'
    ? { status: 'failed', next: 'new_request_id', error: { code: 'not_sent' } }
    : { status: 'outcome_unknown', next: 'reconcile' }
}

describe.each(testedVersions)('a message on App Server %s whose', (version) => {
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

  const statusOf = async (threadId: string): Promise<string> => {
    const client = await world.openClient()
    const status = textAt(await client.call('thread/read', { threadId }), 'thread.status.type')
    await client.close()
    return status
  }
  const count = async (threadId: string, message: string): Promise<number> => {
    const client = await world.openClient()
    const texts = await client.transcript(threadId)
    await client.close()
    return texts.filter((text) => text === message).length
  }

  const steps = [
    { step: 'thread/resume', if_busy: 'refuse', as: 'turn' },
    { step: 'turn/start', if_busy: 'refuse', as: 'turn' },
    { step: 'turn/steer', if_busy: 'steer', as: 'steer' },
    { step: 'thread/queue/add', if_busy: 'queue', as: 'queue' },
  ] as const

  describe.each(steps)('$step step fails because', ({ step, if_busy, as }) => {
    it.each(faults)(
      '$name: tells what is known, and is delivered at most once',
      async ({ action, reached, known }) => {
        const prompt = freshId('hold')
        const held = holdReply()
        world.model.when((text) => text === prompt, held)
        const created = await bridge.call('create_thread', {
          request_id: freshId('new'),
          cwd: world.cwd,
          prompt,
        })
        const threadId = created.threadId ?? ''
        await held.waitHeld()
        if (if_busy === 'refuse') {
          held.release()
          await poll(async () => (await statusOf(threadId)) === 'idle', { what: 'the thread to be idle' })
        }
        const message = freshId('message')
        const args = { request_id: message, thread_id: threadId, message, if_busy }
        const rule = world.proxy.on({ direction: 'to-server', kind: 'request', method: step }, action)
        const receipt = await bridge.call('send_message_to_thread', args)
        await rule.waitFired()
        rule.remove()
        expect(receipt).toMatchObject(endOf(step, known))

        held.release()
        await poll(async () => (await statusOf(threadId)) === 'idle', { what: 'the thread to be idle' })
        const arrives = reached === 1 && step !== 'thread/resume' ? 1 : 0
        await poll(async () => (await count(threadId, message)) === arrives, {
          what: `the message to be there ${arrives} times`,
        })

        const found = await bridge.reconcile(message)
        if (receipt.status === 'outcome_unknown')
          expect(found).toMatchObject(
            arrives === 1
              ? {
                  status: 'accepted',
                  reconciliation: { verdict: 'delivered' },
                  delivery: { state: 'recorded', as: as === 'queue' ? 'turn' : as },
                }
              : { status: 'outcome_unknown', reconciliation: { verdict: 'not_found' } },
          )
        else expect(found).toEqual(receipt)
        expect(await bridge.call('send_message_to_thread', args)).toEqual({ ...found, replayed: true })
        expect(await count(threadId, message)).toBe(arrives)
      },
    )
  })
})
