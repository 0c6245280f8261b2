import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createRepository,
  listing,
  NEWEST_CODEX,
  startWorld,
  type Repository,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import type { Ceiling } from '@codex-thread-bridge/core/policy'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchOf, startLauncher } from './launch.ts'

const full = { sandbox: 'danger-full-access', expected_sandbox_policy: { type: 'dangerFullAccess' } }
const workspace = (more: object) => ({
  sandbox: 'workspace-write',
  expected_sandbox_policy: {
    type: 'workspaceWrite',
    writableRoots: [],
    networkAccess: false,
    excludeTmpdirEnvVar: false,
    excludeSlashTmp: false,
    ...more,
  },
})

describe('the operator’s ceiling, before any Git preparation', () => {
  let world: World
  let repository: Repository
  beforeAll(async () => {
    world = await startWorld({ version: NEWEST_CODEX })
    repository = await createRepository()
    await mkdir(join(repository.directory, 'allowed'))
  })
  afterAll(async () => {
    await world?.close()
    await repository?.remove()
  })

  /** Refused, and nothing was made: no directory, no Git metadata, no thread, no receipt. */
  const expectRefused = async (
    ceiling: Partial<Ceiling>,
    more: object,
    code: string,
    says: RegExp,
    caller?: object,
  ): Promise<void> => {
    const bridge = await startLauncher({ socketPath: world.socketPath, ceiling })
    try {
      const launch = launchOf(repository, more)
      const before = await listing(repository.directory)
      await expect(
        bridge.call('create_worktree_thread', launch, caller === undefined ? {} : { caller }),
      ).rejects.toMatchObject({ code, next: 'fix_call', message: expect.stringMatching(says) as unknown })
      expect(await listing(repository.directory)).toEqual(before)
      expect(world.proxy.sent('thread/start')).toEqual([])
      await expect(bridge.receipt(launch.request_id)).rejects.toMatchObject({ code: 'unknown_request' })
    } finally {
      await bridge.close()
    }
  }

  it('refuses more access than --max-sandbox', () =>
    expectRefused({ maxSandbox: 'workspace-write' }, full, 'ceiling_exceeded', /--max-sandbox/))

  it('refuses network under --no-network', () =>
    expectRefused({ network: false }, workspace({ networkAccess: true }), 'ceiling_exceeded', /--no-network/))

  it('refuses a source outside --allow-root', () => {
    const allowed = join(repository.directory, 'allowed')
    return expectRefused(
      { allowRoots: [allowed] },
      { destination: join(allowed, 'there') },
      'ceiling_exceeded',
      /--allow-root/,
    )
  })

  it('refuses a destination outside --allow-root', () =>
    expectRefused({ allowRoots: [repository.root] }, {}, 'ceiling_exceeded', /--allow-root/))

  it('refuses a writable root outside --allow-root', () =>
    expectRefused(
      { allowRoots: [repository.directory] },
      workspace({ writableRoots: ['/var/tmp'] }),
      'ceiling_exceeded',
      /\/var\/tmp.*--allow-root/,
    ))

  it('refuses wider access than the calling agent has', () =>
    expectRefused({}, workspace({}), 'escalation_refused', /read-only/, {
      threadId: '01a22d6c-ee00-7d30-84f1-a4cd16c32862',
      sandbox: 'read-only',
    }))

  it('launches within the ceiling', async () => {
    const bridge = await startLauncher({
      socketPath: world.socketPath,
      ceiling: { maxSandbox: 'read-only', network: false, allowRoots: [repository.directory] },
    })
    try {
      expect(await bridge.call('create_worktree_thread', launchOf(repository))).toMatchObject({
        status: 'accepted',
        phase: 'complete',
      })
    } finally {
      await bridge.close()
    }
  })
})
