import { existsSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import {
  NEWEST_CODEX,
  createRepository,
  listing,
  startWorld,
  type Repository,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { createWorktreesPlugin } from '@codex-thread-bridge/worktrees'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { swappedAway, swappingEnvironment } from '../../core/test/git/swapping-git.ts'
import type { Bridge } from '../../threads/test/bridge.ts'
import { launchOf, startLauncher } from './launch.ts'

// Where there is no way through an open directory, a swap is only seen afterwards.
describe.runIf(existsSync('/proc/self/fd'))(
  'a launch whose destination is swapped for another repository',
  () => {
    let world: World
    let victim: Repository

    beforeAll(async () => {
      world = await startWorld({ version: NEWEST_CODEX })
      victim = await createRepository()
    })
    afterAll(async () => {
      await world?.close()
      await victim?.remove()
    })

    /** Plays the swap, and then what `recovery` says. */
    const play = async (command: string, where: 'itself' | 'child') => {
      const repository = await createRepository()
      const launch = launchOf(repository)
      const { destination, request_id } = launch
      const { directory, home } = repository
      const swap = { directory, home, destination, victim: victim.root }
      const env = await swappingEnvironment(swap, command, where)
      const before = await listing(victim.directory)
      let bridge: Bridge | undefined
      try {
        bridge = await startLauncher({
          socketPath: world.socketPath,
          plugins: [createWorktreesPlugin({ gitTimeoutMs: 30_000, env })],
        })
        const receipt = await bridge.call('create_worktree_thread', launch)
        const reconciled = await bridge.reconcile(request_id)
        const commands = /with: (.*)$/.exec(String(reconciled.recovery))?.[1] ?? ''
        await rename(destination, `${destination}-aside`)
        const cleaning = await execa('sh', ['-c', commands])
        return {
          receipt,
          reconciled,
          cleaned:
            cleaning.exitCode === 0 && (await repository.git(['worktree', 'list'])).split('\n').length === 1,
          moved: await readdir(swappedAway(destination)).catch(() => undefined),
          victim:
            (await listing(victim.directory)).join('\n') === before.join('\n') ? 'as it was' : 'changed',
        }
      } finally {
        await bridge?.close()
        await repository.remove()
      }
    }

    it('before Git begins, ends, and tells where the worktree was made', async () => {
      const { receipt, reconciled, ...after } = await play('worktree add', 'itself')
      expect(receipt).toMatchObject({
        status: 'failed',
        next: 'inspect',
        error: { code: 'destination_changed' },
      })
      expect(reconciled.recovery).toContain('The worktree that was made is not at ')
      expect(after).toEqual({ cleaned: true, moved: undefined, victim: 'as it was' })
    })

    it('while Git registers it, ends, and tells what stands there', async ({ skip }) => {
      const { receipt, reconciled, ...after } = await play('update-ref', 'child')
      if (receipt.status === 'accepted') skip('this Git sets HEAD itself, without a child to swap at')
      expect(receipt).toMatchObject({
        status: 'failed',
        next: 'inspect',
        error: { code: 'destination_changed' },
      })
      expect(reconciled.recovery).toContain('Something else stands at ')
      expect(after).toEqual({ cleaned: true, moved: ['.git'], victim: 'as it was' })
    })

    it('after its files were written, ends, and tells what stands there', async () => {
      const { receipt, reconciled, ...after } = await play('status', 'itself')
      expect(receipt).toMatchObject({
        status: 'failed',
        next: 'inspect',
        error: { code: 'checkout_changed' },
      })
      expect(reconciled.recovery).toContain('Something else stands at ')
      expect(after).toEqual({ cleaned: true, moved: ['.git', 'read me.txt'], victim: 'as it was' })
    })

    it('while Git writes its files, ends, and tells what stands there', async () => {
      const { receipt, reconciled, ...after } = await play('read-tree', 'itself')
      expect(receipt).toMatchObject({
        status: 'failed',
        next: 'inspect',
        error: { code: 'destination_changed' },
      })
      expect(reconciled.recovery).toContain('Something else stands at ')
      expect(after).toEqual({ cleaned: true, moved: ['.git', 'read me.txt'], victim: 'as it was' })
    })
  },
)
