import { readFile } from 'node:fs/promises'
import {
  startWorld,
  testedVersions,
  textAt,
  type RawClient,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshId, startBridge, type Bridge } from './bridge.ts'

/** App Servers up to here restore no `sandbox` form at all; later ones lose what is not plain, and workspace-write. */
const restoresNothing = (version: string): boolean => version === '0.153.4' || version === '0.154.0'

const custom = {
  sandbox: 'workspace-write',
  config: {
    sandbox_workspace_write: {
      network_access: true,
      exclude_slash_tmp: true,
      exclude_tmpdir_env_var: true,
    },
  },
}

interface Row {
  readonly name: string
  readonly start: Readonly<Record<string, unknown>>
  /** Whether it comes back otherwise under this configured default. */
  readonly drifts: (version: string, standard: string) => boolean
}

const rows: readonly Row[] = [
  {
    name: 'read-only',
    start: { sandbox: 'read-only' },
    drifts: (version, standard) => restoresNothing(version) && standard !== 'read-only',
  },
  {
    name: 'workspace-write',
    start: { sandbox: 'workspace-write' },
    drifts: (_, standard) => standard !== 'workspace-write',
  },
  { name: 'a custom policy', start: custom, drifts: () => true },
  {
    name: 'danger-full-access',
    start: { sandbox: 'danger-full-access' },
    drifts: (version, standard) => restoresNothing(version) && standard !== 'danger-full-access',
  },
  ...[':read-only', ':workspace', ':danger-full-access'].map((permissions) => ({
    name: `profile ${permissions}`,
    start: { permissions },
    drifts: () => false,
  })),
]

const standards = ['danger-full-access', 'workspace-write', 'read-only'] as const
const worlds = testedVersions.flatMap((version) => standards.map((standard) => ({ version, standard })))

describe.each(worlds)(
  'threads of another client on App Server $version with default $standard',
  ({ version, standard }) => {
    let world: World
    let bridge: Bridge
    let client: RawClient
    const threads = new Map<
      string,
      { readonly threadId: string; readonly path: string; readonly sandbox: unknown }
    >()

    beforeAll(async () => {
      world = await startWorld({ version, config: `sandbox_mode = "${standard}"` })
      client = await world.openClient()
      for (const { name, start } of rows) {
        const made = await client.call('thread/start', { cwd: world.cwd, approvalPolicy: 'never', ...start })
        const threadId = textAt(made, 'thread.id')
        await client.runTurn(threadId, 'by another client')
        const { sandbox } = made as { sandbox: unknown }
        threads.set(name, { threadId, path: textAt(made, 'thread.path'), sandbox })
      }
      await world.appServer.kill()
      await world.appServer.restart()
      client = await world.openClient()
      bridge = await startBridge({ socketPath: world.socketPath })
    })
    afterAll(async () => {
      await bridge?.close()
      await world?.close()
    })

    const send = (threadId: string, message: string, more: object = {}) =>
      bridge.call('send_message_to_thread', {
        request_id: freshId('drift'),
        thread_id: threadId,
        message,
        ...more,
      })

    it.each(rows)('$name: is messaged as it was, or not at all', async ({ name, drifts }) => {
      const thread = threads.get(name)
      const { threadId, path, sandbox } = thread ?? { threadId: '', path: '', sandbox: {} }
      if (!drifts(version, standard)) {
        const sent = await send(threadId, 'hello')
        expect(sent).toMatchObject({
          status: 'accepted',
          resumed: { sandbox },
          verifiedEnvironment: { matches: true },
        })
        return
      }
      // The refused call has loaded the thread, and from 0.163 on written its drifted settings: the next one is refused too.
      for (const message of ['first try', 'second try']) {
        const refused = await send(threadId, message)
        expect(refused).toMatchObject({
          status: 'failed',
          next: 'new_request_id',
          error: { code: 'settings_drifted' },
          verifiedEnvironment: { matches: false },
        })
        expect(refused.error?.details).toHaveProperty('differences.0.recorded')
        expect(refused.resumed).not.toMatchObject({ sandbox })
      }
      const restored = await send(threadId, 'restored', { on_settings_drift: 'restore' })
      expect(restored).toMatchObject({
        status: 'accepted',
        delivery: { state: 'recorded', as: 'turn' },
        verifiedEnvironment: { matches: true, differences: [] },
        effective: { sandbox },
      })
      expect(await client.transcript(threadId)).toEqual(expect.arrayContaining(['restored']))
      expect(await client.transcript(threadId)).not.toContain('first try')
      expect(await lastTurnSandbox(path)).toBe(
        name === 'read-only' ? 'read-only' : name === 'danger-full-access' ? name : 'workspace-write',
      )
      // From here on its last turn is the record.
      expect(await send(threadId, 'after that', { if_busy: 'queue' })).toMatchObject({ status: 'accepted' })
    })
  },
)

/** What the thread's last turn ran under, by its rollout. */
const lastTurnSandbox = async (path: string): Promise<string> => {
  const lines = (await readFile(path, 'utf8')).trim().split('\n')
  const contexts = lines
    .map((line): unknown => JSON.parse(line))
    .filter((line) => textAt(line, 'type') === 'turn_context')
  return textAt(contexts.at(-1), 'payload.sandbox_policy.type')
}

describe.each(testedVersions)('a change that a person made on App Server %s', (version) => {
  let world: World
  let bridge: Bridge
  let client: RawClient
  beforeAll(async () => {
    world = await startWorld({ version })
    bridge = await startBridge({ socketPath: world.socketPath })
    client = await world.openClient()
  })
  afterAll(async () => {
    await bridge?.close()
    await world?.close()
  })

  const ours = async (): Promise<string> => {
    const created = await bridge.call('create_thread', { request_id: freshId('ours'), cwd: world.cwd })
    await client.call('thread/resume', { threadId: created.threadId, excludeTurns: true })
    return created.threadId ?? ''
  }
  const send = (threadId: string) =>
    bridge.call('send_message_to_thread', {
      request_id: freshId('send'),
      thread_id: threadId,
      message: 'hello',
    })

  it.each([
    ['a profile', { permissions: ':workspace' }, 'workspaceWrite'],
    ['a model', { model: 'another' }, 'readOnly'],
    ['an effort', { effort: 'high' }, 'readOnly'],
  ])('to the settings (%s) is no drift', async (_, settings, sandbox) => {
    const threadId = await ours()
    await client.call('thread/settings/update', { threadId, ...settings })
    expect(await send(threadId)).toMatchObject({
      status: 'accepted',
      environmentEvidence: 'settings',
      resumed: { sandbox: { type: sandbox } },
      verifiedEnvironment: { matches: true },
    })
  })

  it.each([
    ['narrower access', { sandboxPolicy: { type: 'readOnly', networkAccess: false } }],
    ['wider access', { sandboxPolicy: { type: 'dangerFullAccess' } }],
    ['another model', { model: 'another', effort: 'low' }],
  ])('with a turn (%s) is no drift', async (_, settings) => {
    const threadId = await ours()
    await client.runTurn(threadId, 'by a person', settings)
    expect(await send(threadId)).toMatchObject({ status: 'accepted', verifiedEnvironment: { matches: true } })
  })

  it('to wider settings without a profile or a turn is not believed: a drifted resume writes the same', async () => {
    const threadId = await ours()
    await client.call('thread/settings/update', { threadId, sandboxPolicy: { type: 'dangerFullAccess' } })
    expect(await send(threadId)).toMatchObject({ status: 'failed', error: { code: 'settings_drifted' } })
    await client.runTurn(threadId, 'by a person')
    expect(await send(threadId)).toMatchObject({
      status: 'accepted',
      resumed: { sandbox: { type: 'dangerFullAccess' } },
    })
  })

  it('to approvals that need one is refused even without drift', async () => {
    const threadId = await ours()
    await client.call('thread/settings/update', { threadId, approvalPolicy: 'on-request' })
    expect(await send(threadId)).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'unsupported_approval_policy' },
    })
  })
})
