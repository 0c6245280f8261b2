import {
  NEWEST_CODEX,
  createRepository,
  startWorld,
  type Repository,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { BridgeError } from '@codex-thread-bridge/core/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Bridge } from '../../threads/test/bridge.ts'
import { launchOf, startLauncher } from './launch.ts'

const RIVALS = 4

/** What became of a launch: a receipt's status and code, or the code of an error without one. */
const endOf = async (
  launch: Promise<{ readonly status: string; readonly error?: { readonly code: string } | undefined }>,
) => {
  try {
    const { status, error } = await launch
    return error?.code ?? status
  } catch (error) {
    if (!BridgeError.is(error)) throw error
    return error.code
  }
}

describe('several launches for one destination, by bridges that know nothing of each other', () => {
  let world: World
  let repository: Repository
  let bridges: readonly Bridge[]

  beforeAll(async () => {
    world = await startWorld({ version: NEWEST_CODEX })
    repository = await createRepository()
    bridges = await Promise.all(
      Array.from({ length: RIVALS }, () => startLauncher({ socketPath: world.socketPath })),
    )
  })
  afterAll(async () => {
    for (const bridge of bridges ?? []) await bridge.close()
    await world?.close()
    await repository?.remove()
  })

  it('exactly one wins; the others find that the destination exists, and touch nothing', async () => {
    const { destination } = launchOf(repository)
    const launches = bridges.map(() => launchOf(repository, { destination }))
    const ends = await Promise.all(
      launches.map((launch, place) => {
        const bridge = bridges[place]
        if (bridge === undefined) throw new Error('a bridge for each launch')
        return endOf(bridge.call('create_worktree_thread', launch))
      }),
    )
    const losers = Array.from({ length: RIVALS - 1 }, () => 'destination_exists')
    expect([...ends].sort()).toEqual(['accepted', ...losers])
    const winner = launches[ends.indexOf('accepted')]
    const record = (await repository.git(['worktree', 'list', '--porcelain'])).split('\n\n')
    expect(record).toHaveLength(2)
    expect(record[1]).toBe(
      `worktree ${destination}\nHEAD ${repository.head}\ndetached\nlocked codex-thread-bridge ${String(winner?.request_id)}\n`,
    )
    expect(await repository.git(['status', '--porcelain'], destination)).toBe('')
    expect(world.proxy.reached('thread/start')).toHaveLength(1)
    expect(world.proxy.reached('turn/start')).toHaveLength(1)
  })
})
