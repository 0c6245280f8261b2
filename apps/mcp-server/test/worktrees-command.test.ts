import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  at,
  createRepository,
  NEWEST_CODEX,
  startMcpClient,
  startWorld,
  tempDir,
  textAt,
} from '@codex-thread-bridge/test-fixtures'
import { expect, it } from 'vitest'
import { mainPath, runBridge } from './run-bridge.ts'

it('worktrees list tells what is in each, and prune takes away only what nobody needs', async () => {
  const world = await startWorld({ version: NEWEST_CODEX })
  const state = tempDir('state')
  const repository = await createRepository()
  const common = ['--socket', world.socketPath, '--state-dir', state.path]
  const bridge = await startMcpClient({
    command: process.execPath,
    args: [mainPath, ...common, '--profile', 'codex-app', '--project', repository.root],
    env: { HOME: world.home.path, PATH: process.env.PATH ?? '' },
  })
  const command = async (name: string): Promise<unknown> =>
    JSON.parse((await runBridge(['worktrees', name, '--json', ...common])).stdout)
  try {
    const projectId = textAt((await bridge.call('list_projects')).structured, 'projects.0.projectId')
    const make = async () => {
      const args = { prompt: 'x', target: { type: 'project', projectId } }
      const { structured } = await bridge.call('create_thread', args)
      const { structured: receipt } = await bridge.call('get_operation', {
        request_id: textAt(structured, 'requestId'),
      })
      return { threadId: textAt(structured, 'threadId'), path: textAt(receipt, 'worktree.checkout') }
    }
    const [used, unused, dirty, ahead] = [await make(), await make(), await make(), await make()]
    await bridge.call('wait_threads', {
      targets: [used, unused, dirty, ahead].map(({ threadId }) => ({ threadId })),
      mode: 'all',
    })
    for (const { threadId } of [unused, dirty, ahead])
      await bridge.call('set_thread_archived', { threadId, archived: true })
    await writeFile(join(dirty.path, 'work.txt'), 'x')
    await repository.git(['commit', '--quiet', '--allow-empty', '-m', 'Only here'], ahead.path)

    const listed = await command('list')
    const facts = new Map(
      (listed as object[]).map((entry) => [at(entry, 'path'), [at(entry, 'clean'), at(entry, 'committed')]]),
    )
    expect(facts).toEqual(
      new Map([
        [used.path, [true, true]],
        [unused.path, [true, true]],
        [dirty.path, [false, true]],
        [ahead.path, [true, false]],
      ]),
    )
    const { removed, kept } = (await command('prune')) as { removed: string[]; kept: object[] }
    expect(removed).toEqual([unused.path])
    expect(new Map(kept.map((entry) => [at(entry, 'path'), at(entry, 'because')]))).toEqual(
      new Map([
        [used.path, 'a thread works in it'],
        [dirty.path, 'has uncommitted work'],
        [ahead.path, 'has commits without a branch'],
      ]),
    )
    expect([used, unused, dirty, ahead].map(({ path }) => existsSync(path))).toEqual([
      true,
      false,
      true,
      true,
    ])
    expect((await runBridge(['worktrees'])).code).toBe(2)
  } finally {
    await bridge.close()
    await world.close()
    await repository.remove()
    await state.remove()
  }
})
