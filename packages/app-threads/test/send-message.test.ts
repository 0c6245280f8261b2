import { at, holdReply, poll, testedVersions, textAt } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFamily, startStage, type Stage } from './family.ts'

describe.each(testedVersions)('send_message_to_thread on Codex %s', (version) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage(version)
  })
  afterAll(() => stage.close())

  it('starts a turn in an idle thread and tells what was recorded', async () => {
    const threadId = await stage.threadWith('one')
    const answer = await stage.call('send_message_to_thread', { threadId, prompt: ' exactly this \n' })
    expect(answer).toEqual({
      requestId: expect.stringMatching(/^once-/) as string,
      hostId: 'local',
      threadId,
      turnId: expect.any(String) as string,
      delivery: { state: 'recorded', as: 'turn' },
      status: 'accepted',
      next: 'none',
      replayed: false,
    })
    expect(await stage.client.transcript(threadId)).toContain(' exactly this \n')
    expect(await stage.host.operations.get(textAt(answer, 'requestId'))).toMatchObject({
      family: 'codex-app',
      verifiedEnvironment: { matches: true },
    })
  })

  it('steers a running turn', async () => {
    const held = holdReply()
    stage.world.model.when('hold on', held)
    const threadId = await stage.threadWith('one')
    const turnId = await stage.client.startTurn(threadId, 'hold on')
    await held.waitHeld()
    const answer = await stage.call('send_message_to_thread', { threadId, prompt: 'by the way' })
    held.release()
    expect(answer).toMatchObject({ status: 'accepted', turnId, delivery: { as: 'steer' } })
    await poll(async () => (await stage.client.transcript(threadId)).includes('by the way'))
  })

  it('starts one turn, under the same receipt, when the turn ends before it is steered', async () => {
    const held = holdReply()
    stage.world.model.when('about to end', held)
    const threadId = await stage.threadWith('one')
    const from = stage.client.notifications.length
    const running = await stage.client.startTurn(threadId, 'about to end')
    await held.waitHeld()
    const steer = stage.world.proxy.on({ method: 'turn/steer', kind: 'request' }, 'delay')
    const before = stage.world.proxy.sent('turn/start').length
    const sending = stage.call('send_message_to_thread', { threadId, prompt: 'after all' })
    await steer.waitFired()
    held.release()
    await stage.client.waitFor('turn/completed', { from })
    steer.remove()
    const answer = await sending
    expect(answer).toMatchObject({ status: 'accepted', delivery: { state: 'recorded', as: 'turn' } })
    expect(at(answer, 'turnId')).not.toBe(running)
    expect(stage.world.proxy.sent('turn/start')).toHaveLength(before + 1)
    expect(await stage.host.operations.get(textAt(answer, 'requestId'))).toMatchObject({
      steps: [
        { name: 'thread/resume', state: 'answered' },
        { name: 'turn/steer', state: 'rejected' },
        { name: 'turn/start', state: 'answered' },
        { name: 'thread/unsubscribe', state: 'answered' },
      ],
    })
    const said = await stage.client.transcript(threadId)
    expect(said.filter((text) => text === 'after all')).toHaveLength(1)
  })

  it('changes model and effort from this turn on when they are named, and nothing else', async () => {
    const threadId = await stage.threadWith('one')
    const answer = await stage.call('send_message_to_thread', {
      threadId,
      prompt: 'harder',
      model: 'gpt-5.5',
      thinking: 'high',
    })
    expect(answer).toMatchObject({ status: 'accepted' })
    expect(stage.world.proxy.sent('turn/start').at(-1)?.message).toMatchObject({
      params: { model: 'gpt-5.5', effort: 'high' },
    })
    await stage.call('wait_threads', { targets: [{ threadId }] })
    expect(await stage.call('send_message_to_thread', { threadId, prompt: 'again' })).toMatchObject({
      status: 'accepted',
    })
    expect(at(stage.world.proxy.sent('turn/start').at(-1)?.message, 'params.model')).toBeUndefined()
  })

  it.each([
    [{ model: 'no-such-model' }, 'model', /has no model "no-such-model"\. It has: .*"gpt-5\.5"/],
    [
      { model: 'gpt-5.5', thinking: 'ultra' },
      'thinking',
      /does not take thinking "ultra"\. It takes: "low", /,
    ],
  ])('sends nothing with %j, which the catalog does not have', async (settings, field, message) => {
    const threadId = await stage.threadWith('one')
    const sent = stage.world.proxy.sent('turn/start').length
    await expect(
      stage.call('send_message_to_thread', { threadId, prompt: 'x', ...settings }),
    ).rejects.toMatchObject({
      code: 'unsupported_model',
      field,
      message: expect.stringMatching(message) as string,
    })
    expect(stage.world.proxy.sent('turn/start')).toHaveLength(sent)
  })

  it('refuses the calling thread', async () => {
    const threadId = await stage.threadWith('one')
    await expect(
      stage.call('send_message_to_thread', { threadId, prompt: 'x' }, { caller: { threadId } }),
    ).rejects.toMatchObject({ code: 'self_target', field: 'threadId' })
  })

  it('names the sender in the text only where the operator wants it, in the receipt always', async () => {
    const threadId = await stage.threadWith('one')
    const caller = { threadId: '01a22d6c-ee00-7d30-84f1-a4cd16c32862', turnId: 'turn-1' }
    const plain = await stage.call('send_message_to_thread', { threadId, prompt: 'plain' }, { caller })
    expect(await stage.host.operations.get(textAt(plain, 'requestId'))).toMatchObject({ caller })
    const named = await startFamily(stage.world.socketPath, { provenance: true })
    await named.call('send_message_to_thread', { threadId, prompt: 'named' }, { caller })
    await named.close()
    const said = await stage.client.transcript(threadId)
    expect(said).toContain('plain')
    expect(said).toContain(`[from thread ${caller.threadId}]\n\nnamed`)
  })

  it('sends nothing into a thread that came back with other settings', async () => {
    const threadId = await stage.client.startThread({ cwd: stage.world.cwd })
    await stage.client.runTurn(threadId, 'one')
    await stage.client.call('thread/settings/update', { threadId, approvalPolicy: 'on-request' })
    expect(await stage.call('send_message_to_thread', { threadId, prompt: 'x' })).toMatchObject({
      status: 'failed',
      error: { code: expect.stringMatching(/settings_drifted|unsupported_approval_policy/) as string },
    })
    expect(await stage.client.transcript(threadId)).toEqual(['one', 'ok'])
  })
})
