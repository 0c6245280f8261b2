import { at, startWorld, testedVersions } from '@codex-thread-bridge/test-fixtures'
import { describe, expect, onTestFinished, test } from 'vitest'
import { aThread, client, fakeServer, soon } from './support.ts'

const input = [{ type: 'text' as const, text: 'touch it' }]

describe.each(testedVersions)('an approval that the App Server %s asks for', (version) => {
  test('is left unanswered: the thread waits for a client that has a person', async () => {
    const world = await startWorld({ version })
    onTestFinished(() => world.close())
    const touch = {
      cmd: 'touch asked.txt',
      sandbox_permissions: 'require_escalated',
      justification: 'need it',
    }
    world.model.reply({ toolCall: { name: 'exec_command', arguments: touch } })
    const appServer = client(world.socketPath)
    const { thread } = await appServer.actions.call('thread/start', {
      cwd: world.cwd,
      approvalPolicy: 'on-request',
      sandbox: 'read-only',
      ephemeral: false,
    })
    const threadId = thread.id
    await appServer.actions.call('turn/start', { threadId, input })
    const method = 'item/commandExecution/requestApproval'
    await world.proxy.waitFor({ kind: 'server-request', method })

    const status = async () => (await appServer.reads.call('thread/read', { threadId })).thread.status
    const waiting = { type: 'active', activeFlags: ['waitingOnApproval'] }
    await soon(status).toEqual(waiting)
    // Answers are sent in order: whatever was to be said to the request would have been by now.
    await appServer.actions.call('thread/read', { threadId })
    expect(await status()).toEqual(waiting)
    expect(appServer.logged('transport.server_request')).toEqual([
      { connection: 'actions', method, answered: false },
    ])
    const toServer = world.proxy.log.filter(({ direction }) => direction === 'to-server')
    expect(toServer.filter(({ kind }) => kind === 'response')).toEqual([])

    const other = await world.openClient()
    await other.call('thread/resume', { threadId, excludeTurns: true })
    const request = await other.waitForRequest(method)
    other.respond(request.id, { decision: 'decline' })
    const ended = await other.waitFor('turn/completed')
    expect(at(ended.params, 'turn.status')).toBe('completed')
  })
})

describe('a request of the App Server', () => {
  test.each([
    ['item/tool/call', { threadId: 't', turnId: 'u', callId: 'c', tool: 'x', arguments: {} }],
    ['execCommandApproval', { conversationId: 't', callId: 'c', command: ['ls'], cwd: '/', parsedCmd: [] }],
  ])('about a thread is left unanswered: %s', async (method, params) => {
    const server = await fakeServer(() => ({ thread: aThread }))
    const { reads } = client(server.socketPath)
    await reads.connect()
    server.socket().send(JSON.stringify({ id: 0, method, params }))
    await reads.call('thread/read', { threadId: 't' })
    expect(server.received.filter((message) => at(message, 'method') === undefined)).toEqual([])
  })

  test.each([
    ['account/chatgptAuthTokens/refresh', { reason: 'unauthorized' }, 7],
    ['attestation/generate', undefined, 'seven'],
  ])('about no thread is answered as not supported: %s', async (method, params, id) => {
    const server = await fakeServer()
    const appServer = client(server.socketPath)
    await appServer.reads.connect()
    server.socket().send(JSON.stringify({ id, method, params }))
    await soon(() => server.received.at(-1)).toEqual({
      id,
      error: { code: -32601, message: `codex-thread-bridge does not support ${method}` },
    })
    expect(appServer.logged('transport.server_request')).toEqual([
      { connection: 'reads', method, answered: true },
    ])
  })
})
