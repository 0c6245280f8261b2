import { holdReply, poll, startWorld, testedVersions } from '@codex-thread-bridge/test-fixtures'
import { expect, it } from 'vitest'
import { freshId, startBridge } from './bridge.ts'

/** More than the read calls that one reconciliation may spend. */
const LATER_TURNS = 15

it.each(testedVersions)(
  'a steered message whose answer was lost is found although many turns began soon after (App Server %s)',
  async (version) => {
    const world = await startWorld({ version })
    const bridge = await startBridge({ socketPath: world.socketPath })
    const held = holdReply()
    world.model.when('hold', held)
    const created = await bridge.call('create_thread', {
      request_id: freshId('new'),
      cwd: world.cwd,
      prompt: 'hold',
    })
    const threadId = created.threadId ?? ''
    await held.waitHeld()

    const message = freshId('steered')
    world.proxy.on({ direction: 'to-server', kind: 'request', method: 'turn/steer' }, { cut: 'after' })
    const args = { request_id: message, thread_id: threadId, message, if_busy: 'steer' }
    expect(await bridge.call('send_message_to_thread', args)).toMatchObject({ status: 'outcome_unknown' })
    held.release()
    const client = await world.openClient()
    await client.call('thread/resume', { threadId, excludeTurns: true })
    await poll(async () => (await client.transcript(threadId)).includes(message), {
      what: 'the message in the history',
    })
    for (let turn = 0; turn < LATER_TURNS; turn += 1) await client.runTurn(threadId, `later ${turn}`)

    expect(await bridge.reconcile(message)).toMatchObject({
      status: 'accepted',
      turnId: created.turnId,
      delivery: { state: 'recorded', as: 'steer' },
      // The queue, two pages of turns and items.
      reconciliation: { verdict: 'delivered', looked: { pages: 2 } },
    })
    await bridge.close()
    await world.close()
  },
)
