import { BridgeError, defineRead, definePlugin } from '@codex-thread-bridge/core/contract'
import { createHost, type HostOptions } from '@codex-thread-bridge/core/host'
import { cannedAppServer, memoryLedger } from '@codex-thread-bridge/core/testing'
import { createAppServer } from '@codex-thread-bridge/core/transport'
import { createOperationsPlugin } from '@codex-thread-bridge/operations'
import { startWorld, tempDir, testedVersions } from '@codex-thread-bridge/test-fixtures'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { receipt } from './receipts.ts'

const about = { version: '1.2.3', testedVersions: ['0.153.4', '0.171.0'] }
const silent = () => undefined

const readGoal = defineRead({
  name: 'get_goal',
  title: 'Get a goal',
  description: 'Gets a goal.',
  input: Type.Object({}, { additionalProperties: false }),
  output: Type.Object({}),
  uses: ['thread/goal/get', 'thread/read'],
  examples: [{ input: {}, answers: {} }],
  run: async () => ({}),
})

const capabilities = async (options: HostOptions) => {
  const host = createHost(options)
  host.register(createOperationsPlugin(host.operations, about))
  host.register(definePlugin({ name: 'example', family: 'bridge', version: '0.5.0', tools: [readGoal] }))
  await host.ready()
  return host.call('get_capabilities', {}).finally(() => host.close())
}

describe.each(testedVersions)('get_capabilities on Codex %s', (version) => {
  it('tells the server, its version and what it lacks', async () => {
    const world = await startWorld({ version })
    const appServer = createAppServer({ socketPath: world.socketPath, version: '1.2.3', log: silent })
    try {
      expect(await capabilities({ appServer, ledger: memoryLedger() })).toMatchObject({
        connected: true,
        server: {
          version,
          codexHome: world.home.path,
          userAgent: expect.stringContaining(version) as string,
        },
        transport: 'unix-websocket',
        socket: { configured: world.socketPath, resolved: world.socketPath },
        appServerMethods: { needed: ['thread/goal/get', 'thread/read'], missing: [] },
      })
    } finally {
      await world.close()
    }
  })
})

describe('get_capabilities', () => {
  it('tells what this bridge is made of', async () => {
    const ledger = memoryLedger()
    ledger.claim({ fingerprint: 'f', receipt: receipt() })
    ledger.claim({ fingerprint: 'f', receipt: receipt({ requestId: 'lost', status: 'outcome_unknown' }) })
    const answer = await capabilities({
      appServer: cannedAppServer({}),
      ledger,
      limits: { resultBytes: 9_000 },
      policy: {
        ceiling: { maxSandbox: 'workspace-write', allowRoots: ['/srv'], network: false, escalation: true },
      },
    })
    expect(answer).toEqual({
      bridgeVersion: '1.2.3',
      connected: true,
      server: { userAgent: 'canned/0.0.0', version: '0.0.0', codexHome: null, socketMtimeNs: '0' },
      transport: 'unix-websocket',
      socket: { configured: '/canned/app-server.sock', resolved: '/canned/app-server.sock' },
      ledger: { path: null, operations: 2, uncertain: 1 },
      capabilities: {
        createThread: false,
        sendMessage: false,
        listReadWait: false,
        goalRead: true,
        goalSet: false,
        bridgeManagedWorktrees: false,
        desktopManagedWorktrees: false,
        desktopProjectRegistry: false,
        clientSideToolsAndApprovals: false,
        reconcile: true,
        deliveryMarkers: true,
      },
      plugins: [
        {
          name: 'operations',
          version: '0.0.0',
          tools: ['get_capabilities', 'get_operation', 'list_operations'],
        },
        { name: 'example', version: '0.5.0', tools: ['get_goal'] },
      ],
      appServerMethods: { needed: ['thread/goal/get', 'thread/read'], missing: [] },
      ceiling: { maxSandbox: 'workspace-write', allowRoots: ['/srv'], network: false, escalation: true },
      limits: { callMs: 50_000, resultBytes: 9_000 },
      testedVersions: ['0.153.4', '0.171.0'],
    })
  })

  it('is no error without a server: it says why, and what to do', async () => {
    const folder = tempDir('no')
    const appServer = createAppServer({
      socketPath: `${folder.path}/none.sock`,
      version: '1.2.3',
      log: silent,
    })
    try {
      const answer = await capabilities({ appServer, ledger: memoryLedger() })
      expect(answer).toMatchObject({
        connected: false,
        diagnosis: {
          code: 'socket_absent',
          message: expect.stringContaining('none.sock') as string,
          hint: expect.stringContaining('codex app-server') as string,
        },
        appServerMethods: { needed: ['thread/goal/get', 'thread/read'] },
        ledger: { operations: 0 },
      })
      expect(answer).not.toHaveProperty('server')
    } finally {
      await folder.remove()
    }
  })

  it('tells that nothing is limited but by the caller, unless the operator says otherwise', async () => {
    const answer = await capabilities({ appServer: cannedAppServer({}), ledger: memoryLedger() })
    expect(answer).toMatchObject({
      ceiling: { maxSandbox: 'danger-full-access', allowRoots: [], network: true, escalation: false },
    })
  })

  it('is no error without a ledger either', async () => {
    const answer = await capabilities({
      appServer: cannedAppServer({}),
      ledger: () => Promise.reject(new BridgeError('ledger_corrupt', 'The file is damaged.')),
    })
    expect(answer).toMatchObject({
      connected: true,
      ledger: { error: { code: 'ledger_corrupt', message: 'The file is damaged.' } },
    })
  })
})
