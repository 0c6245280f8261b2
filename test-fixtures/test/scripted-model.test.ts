import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  at,
  holdReply,
  type RawClient,
  startWorld,
  testedVersions,
  textAt,
  type World,
} from '../src/index.ts'

describe.each(testedVersions)('the scripted model under codex %s', (version) => {
  let world: World
  let client: RawClient
  let threadId: string

  beforeAll(async () => {
    world = await startWorld({ version })
  })
  afterAll(() => world.close())

  async function newThread(params = {}): Promise<void> {
    client = await world.openClient()
    threadId = await client.startThread({ cwd: world.cwd, ...params })
  }
  afterEach(() => client.close())

  it('says "ok" unless it is told otherwise', async () => {
    await newThread()
    expect(await client.runTurn(threadId, 'Say anything.')).toMatchObject({
      status: 'completed',
      error: null,
    })
    expect(await client.transcript(threadId)).toEqual(['Say anything.', 'ok'])
  })

  it('shows what was asked: thread, texts and tools', async () => {
    await newThread()
    await client.runTurn(threadId, 'What is shown?')
    await client.runTurn(threadId, 'And now?')
    const request = world.model.requests.at(-1)
    expect(request).toMatchObject({
      threadId,
      userTexts: ['What is shown?', 'And now?'],
      lastUserText: 'And now?',
    })
    expect(request?.tools.map((tool) => at(tool, 'name'))).toContain('exec_command')
  })

  it('answers in the order of the queue, then with the default', async () => {
    await newThread()
    world.model.reply({ text: 'first' }, { text: 'second' })
    for (const text of ['1', '2', '3']) await client.runTurn(threadId, text)
    expect(await client.transcript(threadId)).toEqual(['1', 'first', '2', 'second', '3', 'ok'])
  })

  it('answers two threads at once by what each of them was asked', async () => {
    await newThread()
    const other = await client.startThread({ cwd: world.cwd })
    world.model.when('colour', { text: 'blue' })
    world.model.when(/^How many/, ({ lastUserText }) => ({ text: `${String(lastUserText.length)} letters` }))
    await Promise.all([client.runTurn(threadId, 'Which colour?'), client.runTurn(other, 'How many?')])
    expect(await client.transcript(threadId)).toEqual(['Which colour?', 'blue'])
    expect(await client.transcript(other)).toEqual(['How many?', '9 letters'])
  })

  it('keeps a turn active until the held reply is released', async () => {
    await newThread()
    const held = holdReply({ delta: 'Wor', then: { text: 'ld' } })
    world.model.reply(held)
    const turnId = await client.startTurn(threadId, 'Wait.')
    await client.waitFor('item/agentMessage/delta')
    expect(at(await client.call('thread/read', { threadId }), 'thread.status')).toEqual({
      type: 'active',
      activeFlags: [],
    })
    held.release()
    const ended = await client.waitFor('turn/completed')
    expect(at(ended.params, 'turn')).toMatchObject({ id: turnId, status: 'completed' })
    expect(await client.transcript(threadId)).toEqual(['Wait.', 'World'])
  })

  it('lets a held turn be interrupted', async () => {
    await newThread()
    const held = holdReply()
    world.model.reply(held)
    const turnId = await client.startTurn(threadId, 'Wait.')
    await held.waitHeld()
    await client.call('turn/interrupt', { threadId, turnId })
    expect(at((await client.waitFor('turn/completed')).params, 'turn.status')).toBe('interrupted')
  })

  it('tells the texts of the user from what the agent adds in their name', async () => {
    await newThread()
    const held = holdReply()
    world.model.reply(held)
    writeFileSync(join(world.cwd, 'AGENTS.md'), 'Be kind.')
    const turnId = await client.startTurn(threadId, '<codex_delegation>Wait.</codex_delegation>')
    await held.waitHeld()
    await client.call('turn/interrupt', { threadId, turnId })
    await client.waitFor('turn/completed')
    await client.runTurn(threadId, 'Go on.')
    expect(JSON.stringify(world.model.requests.at(-1)?.input)).toContain('<turn_aborted>')
    expect(world.model.requests.at(-1)?.userTexts).toEqual([
      '<codex_delegation>Wait.</codex_delegation>',
      'Go on.',
    ])
  })

  it('makes the agent run a command and reads its output', async () => {
    await newThread({ sandbox: 'danger-full-access' })
    const call = { name: 'exec_command', arguments: { cmd: 'echo 6 times 7 is $((6 * 7))' } }
    world.model.when('calculate', { toolCall: call }, ({ toolOutputs }) => ({
      text: toolOutputs[0]?.output ?? '',
    }))
    await client.runTurn(threadId, 'Please calculate.')
    expect((await client.transcript(threadId)).at(-1)).toContain('6 times 7 is 42')
  })

  it('puts several items into one reply', async () => {
    await newThread({ sandbox: 'danger-full-access' })
    const toolCall = { name: 'exec_command', arguments: { cmd: 'true' } }
    world.model.reply({ items: [{ text: 'Running it.' }, { toolCall }] }, { text: 'It ran.' })
    await client.runTurn(threadId, 'Run it.')
    expect(await client.transcript(threadId)).toEqual(['Run it.', 'Running it.', 'It ran.'])
  })

  it.each([
    ['an HTTP failure', { status: 500 }, 'internalServerError'],
    ['an answer cut after its creation', { cutAfter: 'created' as const }, 'other'],
    ['an answer cut in its text', { cutAfter: 'delta' as const }, 'other'],
    [
      'an overloaded server',
      { failed: { code: 'server_is_overloaded', message: 'busy' } },
      'serverOverloaded',
    ],
  ])('fails the turn with %s', async (_, reply, codexErrorInfo) => {
    await newThread()
    world.model.reply(reply)
    expect(await client.runTurn(threadId, 'Fail.')).toMatchObject({
      status: 'failed',
      error: { codexErrorInfo },
    })
  })

  it('fails the turn with the message of a script that throws', async () => {
    await newThread()
    world.model.reply(() => {
      throw new Error('no such case')
    })
    const turn = await client.runTurn(threadId, 'Throw.')
    expect(textAt(turn, 'error.message')).toContain('the scripted model threw: Error: no such case')
  })
})
