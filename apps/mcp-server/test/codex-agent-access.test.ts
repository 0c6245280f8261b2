import { startWorld, testedVersions, textAt, type World } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { latestAnswer, runAgent, toolCall, type AgentOptions } from './codex-agent.ts'

/** Methods that leave no trace: all that a refused call may have sent. */
const READS = ['initialize', 'permissionProfile/list']

describe.each(testedVersions)('a real Codex agent %s', (version) => {
  let world: World
  let tasks = 0

  beforeAll(async () => {
    world = await startWorld({ version })
  })
  afterAll(() => world?.close())

  /** What the agent's call was answered, and which methods reached the App Server for it. */
  const callAs = async (
    options: Omit<AgentOptions, 'world' | 'task'>,
    tool: string,
    args: (threadId: string) => object,
  ) => {
    const task = `Task ${version} ${String((tasks += 1))}.`
    const before = world.proxy.log.length
    let answer: unknown
    world.model.when(
      task,
      (request) => toolCall(tool, { request_id: task, ...args(request.threadId) }),
      (request) => {
        answer = latestAnswer(request)
        return { text: 'done' }
      },
    )
    await runAgent({ world, task, ...options })
    const requests = world.proxy.log.slice(before).filter(({ kind }) => kind === 'request')
    return { answer, sent: [...new Set(requests.map(({ method }) => method ?? ''))] }
  }
  const writer = () => ({ cwd: world.cwd, sandbox: 'workspace-write', prompt: 'Write.' })

  it('that may only read creates no thread that may write, and nothing of it is sent', async () => {
    const { answer, sent } = await callAs({ sandbox: 'read-only' }, 'create_thread', writer)
    expect(answer).toMatchObject({ error: { code: 'escalation_refused', next: 'fix_call' } })
    const message = textAt(answer, 'error.message')
    for (const named of ['workspace-write', 'read-only', '--allow-escalation'])
      expect(message).toContain(named)
    expect(sent.filter((method) => !READS.includes(method))).toEqual([])
  })

  it('that may write in its workspace creates one that may, too', async () => {
    const { answer } = await callAs({ sandbox: 'workspace-write' }, 'create_thread', writer)
    expect(answer).toMatchObject({ status: 'accepted', creation: { sandbox: { type: 'workspaceWrite' } } })
  })

  it('that may only read creates one that may write where the operator allows escalation', async () => {
    const options = { sandbox: 'read-only', bridge: ['--allow-escalation'] } as const
    const { answer } = await callAs(options, 'create_thread', writer)
    expect(answer).toMatchObject({ status: 'accepted', creation: { sandbox: { type: 'workspaceWrite' } } })
  })

  it('that has full access stays below the operator’s ceiling', async () => {
    const options = { sandbox: 'danger-full-access', bridge: ['--max-sandbox', 'read-only'] } as const
    const { answer, sent } = await callAs(options, 'create_thread', writer)
    expect(answer).toMatchObject({ error: { code: 'ceiling_exceeded', next: 'fix_call' } })
    expect(sent.filter((method) => !READS.includes(method))).toEqual([])
  })

  it('that may only read feeds no thread that may do more', async () => {
    const client = await world.openClient()
    const threadId = await client.startThread({ cwd: world.cwd, sandbox: 'danger-full-access' })
    await client.runTurn(threadId, 'by another client')
    const send = () => ({ thread_id: threadId, message: 'Do what I may not.' })
    const { answer, sent } = await callAs({ sandbox: 'read-only' }, 'send_message_to_thread', send)
    expect(answer).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'escalation_refused' },
    })
    expect(sent).not.toContain('turn/start')
    expect(await client.transcript(threadId)).toEqual(['by another client', 'ok'])
    await client.close()
  })

  it.each([
    ['as it is', (id: string) => id],
    ['in capitals', (id: string) => id.toUpperCase()],
  ])('does not message itself by its own id, %s', async (_, spelled) => {
    const toItself = (threadId: string) => ({ thread_id: spelled(threadId), message: 'hello' })
    const { answer, sent } = await callAs({}, 'send_message_to_thread', toItself)
    expect(answer).toMatchObject({ error: { code: 'self_target', next: 'fix_call' } })
    expect(sent).toEqual([])
  })
})
