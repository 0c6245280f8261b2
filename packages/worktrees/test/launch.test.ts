import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createRepository,
  listAt,
  startWorld,
  testedVersions,
  textAt,
  type Repository,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Bridge } from '../../threads/test/bridge.ts'
import { launchOf, startLauncher } from './launch.ts'

const worktreesOf = async (repository: Repository): Promise<string> =>
  repository.git(['worktree', 'list', '--porcelain'])

describe.each(testedVersions)('create_worktree_thread on App Server %s', (version) => {
  let world: World
  let bridge: Bridge
  let repository: Repository

  beforeAll(async () => {
    world = await startWorld({ version, config: 'sandbox_mode = "danger-full-access"' })
    bridge = await startLauncher({ socketPath: world.socketPath })
    repository = await createRepository()
  })
  afterAll(async () => {
    await bridge?.close()
    await world?.close()
    await repository?.remove()
  })

  it('makes a locked worktree, proves it and the thread, and records the prompt', async () => {
    const launch = launchOf(repository, { title: 'Counting' })
    const receipt = await bridge.call('create_worktree_thread', launch)
    const { destination } = launch
    expect(receipt).toMatchObject({
      operation: 'create_worktree_thread',
      family: 'bridge',
      status: 'accepted',
      next: 'none',
      phase: 'complete',
      recoveryRequired: false,
      requestedCheckout: destination,
      worktree: {
        sourceRepository: repository.root,
        checkout: destination,
        requestedRevision: repository.head,
        gitCommonDirectory: join(repository.root, '.git'),
        ownership: 'bridge-managed',
        lifecycle: 'retained-until-manual-cleanup',
        state: 'created',
        initialRevision: repository.head,
        detached: true,
        clean: true,
      },
      permissionReceipt: {
        approvalPolicy: 'never',
        sandbox: { type: 'readOnly', networkAccess: false },
        activePermissionProfile: { id: ':read-only' },
        runtimeWorkspaceRoots: [destination],
      },
      verifiedEnvironment: { matches: true, differences: [] },
      checkoutBeforeDispatch: { root: destination, head: repository.head, detached: true, clean: true },
      initialPrompt: { state: 'recorded' },
      delivery: { state: 'recorded', as: 'turn' },
      durable: true,
      desktopProjectAssociation: {
        status: 'unverified',
        sourceRepository: repository.root,
        checkout: destination,
      },
    })
    expect('recovery' in JSON.parse(JSON.stringify(receipt))).toBe(false)
    expect(receipt.steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'git/reserve_destination answered',
      'git/worktree_add answered',
      'git/checkout answered',
      'thread/start answered',
      'thread/section/move answered',
      'thread/settings/update answered',
      'thread/name/set answered',
      'turn/start answered',
      'thread/unsubscribe answered',
    ])
    expect(await worktreesOf(repository)).toContain(
      `worktree ${destination}\nHEAD ${repository.head}\ndetached\nlocked codex-thread-bridge ${launch.request_id}`,
    )
    expect(await readFile(join(destination, 'read me.txt'), 'utf8')).toBe('hello\n')
    expect((await stat(destination)).mode & 0o777).toBe(0o700)
  })

  it('starts the thread in the worktree, with no turn when there is no prompt', async () => {
    const { prompt: _prompt, ...launch } = launchOf(repository)
    const receipt = await bridge.call('create_worktree_thread', launch)
    expect(receipt).toMatchObject({
      status: 'accepted',
      phase: 'complete',
      initialPrompt: { state: 'not_requested' },
    })
    expect(receipt.turnId).toBeUndefined()
    const client = await world.openClient()
    const thread = await client.call('thread/read', { threadId: receipt.threadId ?? '' })
    await client.close()
    expect(textAt(thread, 'thread.cwd')).toBe(launch.destination)
  })

  it.each([
    [
      'workspace-write',
      {
        type: 'workspaceWrite',
        writableRoots: [],
        networkAccess: false,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      },
      'permissions',
    ],
    [
      'workspace-write',
      {
        type: 'workspaceWrite',
        writableRoots: ['/var/tmp'],
        networkAccess: true,
        excludeTmpdirEnvVar: true,
        excludeSlashTmp: true,
      },
      'sandbox',
    ],
    ['danger-full-access', { type: 'dangerFullAccess' }, 'permissions'],
  ])('gives the thread %s exactly as %o, asked for as %s', async (sandbox, policy, requestedAs) => {
    const receipt = await bridge.call(
      'create_worktree_thread',
      launchOf(repository, { sandbox, expected_sandbox_policy: policy }),
    )
    expect(receipt).toMatchObject({
      status: 'accepted',
      requestedAs,
      permissionReceipt: { sandbox: policy },
      verifiedEnvironment: { matches: true },
    })
  })

  it('replays a launch without a look at Git or the App Server, also when the worktree is gone', async () => {
    const launch = launchOf(repository)
    const first = await bridge.call('create_worktree_thread', launch)
    await repository.git(['worktree', 'remove', '--force', '--force', launch.destination])
    const sent = world.proxy.sent('thread/start').length
    const again = await bridge.call('create_worktree_thread', launch)
    expect(again).toEqual({ ...JSON.parse(JSON.stringify(first)), replayed: true })
    expect(world.proxy.sent('thread/start')).toHaveLength(sent)
    await expect(stat(launch.destination)).rejects.toThrow('ENOENT')
  })

  it('refuses the same request_id with another destination, and makes nothing', async () => {
    const launch = launchOf(repository)
    await bridge.call('create_worktree_thread', launch)
    const other = `${launch.destination}-other`
    await expect(
      bridge.call('create_worktree_thread', { ...launch, destination: other }),
    ).rejects.toMatchObject({ code: 'request_conflict', next: 'new_request_id' })
    await expect(stat(other)).rejects.toThrow('ENOENT')
  })

  it('sends the prompt exactly as given, once', async () => {
    const prompt = '  spaces, a line\n\nand ünïcode  '
    const receipt = await bridge.call('create_worktree_thread', launchOf(repository, { prompt }))
    const client = await world.openClient()
    const items = await client.call('thread/items/list', { threadId: receipt.threadId ?? '', limit: 100 })
    await client.close()
    const texts = listAt(items, 'data')
      .filter((row) => textAt(row, 'item.type') === 'userMessage')
      .map((row) => textAt(row, 'item.content.0.text'))
    expect(texts).toEqual([prompt])
  })
})
