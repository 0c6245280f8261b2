import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { at, startWorld, testedVersions, type World } from '../src/index.ts'

describe.each(testedVersions)('the raw client of codex %s', (version) => {
  let world: World

  beforeAll(async () => {
    world = await startWorld({ version })
  })
  afterAll(() => world.close())

  it('sees the status broadcasts of a thread that it never started or resumed', async () => {
    const [starter, watcher] = [await world.openClient(), await world.openClient()]
    const threadId = await starter.startThread({ cwd: world.cwd })
    await starter.runTurn(threadId, 'Hello.')
    await watcher.waitFor(
      ({ method, params }) => method === 'thread/status/changed' && at(params, 'status.type') === 'idle',
    )
    const seen = watcher.notifications.filter(({ params }) => at(params, 'threadId') === threadId)
    const statuses = seen
      .filter(({ method }) => method === 'thread/status/changed')
      .map(({ params }) => at(params, 'status.type'))
    expect(statuses).toEqual(['active', 'idle'])
    expect(seen.map(({ method }) => method)).not.toContain('turn/completed')
  })

  it('gets an approval request and answers it', async () => {
    const client = await world.openClient()
    const threadId = await client.startThread({ cwd: world.cwd, approvalPolicy: 'on-request' })
    const cmd = { cmd: 'touch approved', sandbox_permissions: 'require_escalated' }
    world.model.when('approval', { toolCall: { name: 'exec_command', arguments: cmd } }, { text: 'done' })
    const turnId = await client.startTurn(threadId, 'Needs approval.')
    const request = await client.waitForRequest('item/commandExecution/requestApproval')
    expect(existsSync(join(world.cwd, 'approved'))).toBe(false)
    client.respond(request.id, { decision: 'accept' })
    await client.waitFor(
      ({ method, params }) => method === 'turn/completed' && at(params, 'turn.id') === turnId,
    )
    expect(existsSync(join(world.cwd, 'approved'))).toBe(true)
  })

  it('rejects a call with the error that the server answered', async () => {
    const client = await world.openClient()
    await expect(client.call('foo/bar')).rejects.toMatchObject({ name: 'RpcError', code: -32600 })
  })

  it('rejects the calls in flight when the connection is lost', async () => {
    const client = await world.openClient()
    await world.appServer.freeze()
    const call = client.call('thread/loaded/list')
    const [outcome] = await Promise.allSettled([call, world.appServer.restart()])
    expect(outcome).toMatchObject({ reason: { message: 'thread/loaded/list: connection closed' } })
  })
})
