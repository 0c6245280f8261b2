import { mkdir, realpath, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Caller } from '@codex-thread-bridge/core/contract'
import type { Ceiling } from '@codex-thread-bridge/core/policy'
import {
  poll,
  startWorld,
  tempDir,
  testedVersions,
  textAt,
  type TempDir,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshId, startBridge, type Bridge } from './bridge.ts'

const PROFILE = `
default_permissions = ":read-only"
[permissions.mine.filesystem]
":root" = "read"
`
const network = {
  type: 'workspaceWrite',
  writableRoots: [],
  networkAccess: true,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: false,
}
const MUTATIONS = ['thread/start', 'turn/start', 'turn/steer', 'thread/queue/add']

describe.each(testedVersions)('the ceiling on App Server %s', (version) => {
  let world: World
  let folder: TempDir
  let allowed: string
  let outside: string
  const bridges: Bridge[] = []

  beforeAll(async () => {
    world = await startWorld({ version, config: PROFILE })
    folder = tempDir('roots')
    const root = await realpath(folder.path)
    allowed = join(root, 'a')
    outside = join(root, 'ab')
    await mkdir(allowed)
    await mkdir(outside)
    await symlink(outside, join(allowed, 'link'))
  })
  afterAll(async () => {
    for (const bridge of bridges) await bridge.close()
    await world?.close()
    await folder?.remove()
  })

  const bridgeWith = async (ceiling: Partial<Ceiling>): Promise<Bridge> => {
    const bridge = await startBridge({ socketPath: world.socketPath, ceiling })
    bridges.push(bridge)
    return bridge
  }
  /** How often each method that starts or feeds an agent has reached the server. */
  const reached = () => MUTATIONS.map((method) => world.proxy.reached(method).length)

  const create = (bridge: Bridge, args: object, caller: Caller = {}) => {
    const request_id = freshId('create')
    const call = bridge.call('create_thread', { request_id, cwd: world.cwd, ...args }, { caller })
    return { request_id, call }
  }
  const expectRefused = async (bridge: Bridge, args: object, expected: object, caller: Caller = {}) => {
    const before = reached()
    const { request_id, call } = create(bridge, { prompt: 'never sent', ...args }, caller)
    await expect(call).rejects.toMatchObject({ next: 'fix_call', ...expected })
    await expect(bridge.receipt(request_id)).rejects.toMatchObject({ code: 'unknown_request' })
    expect(reached()).toEqual(before)
  }
  const expectCreated = async (bridge: Bridge, args: object, caller: Caller = {}) => {
    expect(await create(bridge, { prompt: 'sent', ...args }, caller).call).toMatchObject({
      status: 'accepted',
    })
  }

  describe('refuses to create a thread', () => {
    it('beyond --max-sandbox, and creates one within', async () => {
      const bridge = await bridgeWith({ maxSandbox: 'workspace-write' })
      await expectRefused(
        bridge,
        { sandbox: 'danger-full-access' },
        {
          code: 'ceiling_exceeded',
          message:
            'The new thread would have danger-full-access (network included): this bridge allows workspace-write at most (--max-sandbox).',
        },
      )
      await expectRefused(bridge, { permissions: 'mine' }, { code: 'ceiling_exceeded' })
      await expectCreated(bridge, { sandbox: 'workspace-write' })
      await expectCreated(bridge, { sandbox_policy: network })
    })

    it('with network under --no-network, and creates one without', async () => {
      const bridge = await bridgeWith({ network: false })
      const code = 'ceiling_exceeded'
      await expectRefused(bridge, { sandbox_policy: network }, { code })
      await expectRefused(bridge, { sandbox: 'danger-full-access' }, { code })
      await expectRefused(bridge, { permissions: ':danger-full-access' }, { code })
      await expectCreated(bridge, { permissions: ':workspace' })
      await expectCreated(bridge, {
        sandbox_policy: { ...network, networkAccess: false, excludeSlashTmp: true },
      })
    })

    it('outside of --allow-root, and creates one inside', async () => {
      const bridge = await bridgeWith({ allowRoots: [allowed] })
      const code = 'ceiling_exceeded'
      await expectRefused(
        bridge,
        { cwd: outside },
        {
          code,
          message: `The new thread would work in ${outside}: this bridge works only in ${allowed} (--allow-root).`,
        },
      )
      await expectRefused(bridge, { cwd: join(allowed, 'link') }, { code })
      const roots = { sandbox_policy: { ...network, writableRoots: [outside] } }
      await expectRefused(bridge, { cwd: allowed, ...roots }, { code })
      await expectCreated(bridge, { cwd: allowed, sandbox: 'workspace-write' })
    })

    it('wider than its caller, and creates one that is not', async () => {
      const bridge = await bridgeWith({})
      const caller = { sandbox: 'workspace-write' }
      await expectRefused(
        bridge,
        { sandbox: 'danger-full-access' },
        {
          code: 'escalation_refused',
          message: expect.stringMatching(/danger-full-access.*workspace-write.*--allow-escalation/) as string,
        },
        caller,
      )
      await expectCreated(bridge, { sandbox: 'workspace-write' }, caller)
    })
  })

  it('lets a caller have more than itself when the operator allows escalation, up to the ceiling', async () => {
    const bridge = await bridgeWith({ escalation: true, maxSandbox: 'workspace-write' })
    const caller = { sandbox: 'read-only' }
    await expectCreated(bridge, { sandbox: 'workspace-write' }, caller)
    await expectRefused(bridge, { sandbox: 'danger-full-access' }, { code: 'ceiling_exceeded' }, caller)
  })

  it('creates a thread with a profile of the user’s own where nothing is limited', async () => {
    await expectCreated(await bridgeWith({}), { permissions: 'mine' })
  })

  describe('keeps a message from a thread that another client made', () => {
    /** An idle thread with one turn, made past the bridge. */
    const foreign = async (params: object): Promise<string> => {
      const client = await world.openClient()
      const threadId = await client.startThread({ cwd: world.cwd, ...params })
      await client.runTurn(threadId, 'by another client')
      await client.close()
      return threadId
    }
    const transcript = async (threadId: string): Promise<readonly string[]> => {
      const client = await world.openClient()
      const texts = await client.transcript(threadId)
      await client.close()
      return texts
    }
    const send = (bridge: Bridge, thread_id: string, more: object = {}, caller: Caller = {}) =>
      bridge.call(
        'send_message_to_thread',
        { request_id: freshId('send'), thread_id, message: 'hello', ...more },
        { caller },
      )
    const expectKept = async (bridge: Bridge, threadId: string, code: string, caller: Caller = {}) => {
      for (const if_busy of ['refuse', 'steer', 'queue']) {
        const before = reached()
        const receipt = await send(bridge, threadId, { if_busy }, caller)
        expect(receipt).toMatchObject({
          status: 'failed',
          next: 'new_request_id',
          error: { code },
          steps: [
            { name: 'thread/resume', state: 'answered' },
            { name: 'thread/unsubscribe', state: 'answered' },
          ],
        })
        expect(reached()).toEqual(before)
      }
      expect(await transcript(threadId)).not.toContain('hello')
    }

    it.each<[string, object, Partial<Ceiling>, Caller, string]>([
      [
        'wide, under a read-only ceiling',
        { sandbox: 'danger-full-access' },
        { maxSandbox: 'read-only' },
        {},
        'ceiling_exceeded',
      ],
      [
        'wide, for a read-only caller',
        { sandbox: 'danger-full-access' },
        {},
        { sandbox: 'read-only' },
        'escalation_refused',
      ],
      [
        'with network, under --no-network',
        { sandbox: 'workspace-write', config: { sandbox_workspace_write: { network_access: true } } },
        { network: false },
        {},
        'ceiling_exceeded',
      ],
      [
        'with a profile of the user’s own, under any limit',
        { sandbox: undefined, permissions: 'mine' },
        { network: false },
        {},
        'ceiling_exceeded',
      ],
    ])('%s', async (_, params, ceiling, caller, code) => {
      await expectKept(await bridgeWith(ceiling), await foreign(params), code, caller)
    })

    it('or widened after the bridge had made it', async () => {
      const bridge = await bridgeWith({})
      const { threadId = '' } = await create(bridge, { prompt: 'first' }).call
      const client = await world.openClient()
      await client.call('thread/resume', { threadId, excludeTurns: true })
      const status = async () => textAt(await client.call('thread/read', { threadId }), 'thread.status.type')
      await poll(async () => (await status()) === 'idle', { what: 'the first turn to end' })
      await client.runTurn(threadId, 'wider', { sandboxPolicy: { type: 'dangerFullAccess' } })
      await client.close()
      await expectKept(bridge, threadId, 'escalation_refused', { sandbox: 'read-only' })
    })

    it('or that drifted as well: the ceiling is told, and the drift afterwards', async () => {
      const bridge = await bridgeWith({})
      const { threadId = '' } = await create(bridge, {}).call
      const client = await world.openClient()
      await client.call('thread/resume', { threadId, excludeTurns: true })
      await client.call('thread/settings/update', { threadId, sandboxPolicy: { type: 'dangerFullAccess' } })
      await client.close()
      const limited = await startBridge({
        socketPath: world.socketPath,
        stateDir: bridge.stateDir,
        ceiling: { maxSandbox: 'workspace-write' },
      })
      bridges.push(limited)
      const drift = { verifiedEnvironment: { matches: false } }
      for (const on_settings_drift of ['refuse', 'restore']) {
        const before = reached()
        const more = { on_settings_drift }
        expect(await send(limited, threadId, more)).toMatchObject({
          ...drift,
          status: 'failed',
          next: 'new_request_id',
          error: { code: 'ceiling_exceeded' },
        })
        expect(await send(bridge, threadId, more, { sandbox: 'read-only' })).toMatchObject({
          ...drift,
          error: { code: 'escalation_refused' },
        })
        expect(reached()).toEqual(before)
      }
      expect(await send(bridge, threadId)).toMatchObject({ ...drift, error: { code: 'settings_drifted' } })
      expect(await transcript(threadId)).toEqual([])
    })

    it('in a directory that is not allowed, also by a link', async () => {
      const bridge = await bridgeWith({ allowRoots: [allowed] })
      await expectKept(bridge, await foreign({ cwd: outside }), 'ceiling_exceeded')
      await expectKept(bridge, await foreign({ cwd: join(allowed, 'link') }), 'ceiling_exceeded')
      expect(await send(bridge, await foreign({ cwd: allowed }))).toMatchObject({ status: 'accepted' })
    })

    it('unless it is within the ceiling and its caller’s access', async () => {
      const bridge = await bridgeWith({ maxSandbox: 'read-only', network: false })
      const receipt = await send(bridge, await foreign({}), {}, { sandbox: 'read-only' })
      expect(receipt).toMatchObject({ status: 'accepted', delivery: { state: 'recorded' } })
    })
  })

  it('refuses the calling thread itself in every spelling of its id', async () => {
    const bridge = await bridgeWith({})
    const { threadId = '' } = await create(bridge, { prompt: 'first' }).call
    for (const thread_id of [threadId, threadId.toUpperCase(), `{${threadId}}`]) {
      const args = { request_id: freshId('self'), thread_id, message: 'hello' }
      const call = bridge.call('send_message_to_thread', args, { caller: { threadId } })
      await expect(call).rejects.toMatchObject({ code: 'self_target', next: 'fix_call' })
    }
  })
})
