import { at, NEWEST_CODEX, textAt } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFamily, startStage, type Stage } from './family.ts'

const requestId = (answer: unknown) => textAt(answer, 'requestId')

describe('request ids from the identity of a call', () => {
  let stage: Stage
  let threadId: string
  beforeAll(async () => {
    stage = await startStage(NEWEST_CODEX)
    threadId = await stage.threadWith('one')
  })
  afterAll(() => stage.close())

  const by = (callIdentity: string) => ({
    caller: { threadId: '01a22d6c-ee00-7d30-84f1-a4cd16c32862', callIdentity },
  })
  const sent = () => stage.world.proxy.sent('turn/start').length
  /** A message that meets no turn of the one before: it would be steered into that. */
  const send = async (args: object, options?: ReturnType<typeof by>): Promise<unknown> => {
    const answer = await stage.call('send_message_to_thread', args, options)
    await stage.call('wait_threads', { targets: [{ threadId }] })
    return answer
  }

  it('replay a call that the host repeats, also through another bridge', async () => {
    const call = { threadId, prompt: 'once' }
    const first = await send(call, by('call-1'))
    const before = sent()
    const again = await send(call, by('call-1'))
    expect(again).toEqual({ ...(first as object), replayed: true })
    expect(at(first, 'replayed')).toBe(false)
    const other = await startFamily(stage.world.socketPath, { stateDir: stage.stateDir })
    expect(await other.call('send_message_to_thread', call, by('call-1'))).toEqual(again)
    await other.close()
    expect(sent()).toBe(before)
  })

  it('join a repetition while the call still runs', async () => {
    const call = { threadId, prompt: 'twice at once' }
    const before = sent()
    const answers = await Promise.all([1, 2].map(() => send(call, by('call-2'))))
    expect(answers.map(requestId)).toEqual([requestId(answers[0]), requestId(answers[0])])
    expect(answers.map((answer) => at(answer, 'replayed')).sort()).toEqual([false, true])
    expect(sent()).toBe(before + 1)
  })

  it('differ for other arguments, another tool and another call', async () => {
    const before = sent()
    const answers = [
      await send({ threadId, prompt: 'a' }, by('call-3')),
      await send({ threadId, prompt: 'b' }, by('call-3')),
      await send({ threadId, prompt: 'a' }, by('call-4')),
      await stage.call('set_thread_title', { threadId, title: 'a' }, by('call-3')),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 'accepted', replayed: false })
    expect(new Set(answers.map(requestId)).size).toBe(4)
    expect(sent()).toBe(before + 3)
  })

  it('are fresh for a client that does not tell which call it is', async () => {
    const before = sent()
    const call = { threadId, prompt: 'again' }
    const answers = [await send(call), await send(call)]
    expect(requestId(answers[0])).not.toBe(requestId(answers[1]))
    expect(sent()).toBe(before + 2)
  })

  it('never make a thread twice', async () => {
    const call = { prompt: 'make one', target: { type: 'projectless' } }
    const answers = [
      await stage.call('create_thread', call, by('call-5')),
      await stage.call('create_thread', call, by('call-5')),
    ]
    expect(at(answers[0], 'threadId')).toBe(at(answers[1], 'threadId'))
    expect(stage.world.proxy.sent('thread/start')).toHaveLength(1)
  })
})
