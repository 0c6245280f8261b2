import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tempDir, at } from '@codex-thread-bridge/test-fixtures'
import { createWorktreesPlugin } from '@codex-thread-bridge/worktrees'
import { execa } from 'execa'
import { startHost } from './support/host.ts'
import { interleave, timed } from './support/interleave.ts'
import { atMost, rowOf, type Row } from './support/row.ts'
import { onStage } from './support/stage.ts'

const ROUNDS = { warmUp: 1, rounds: 5 }
const DIRECTORIES = 100
const FILES_EACH = 200

/** create_worktree_thread on a repository of 20,000 files, thread, checks, ledger and all, against `git worktree add`. */
export const launch = (): Promise<readonly Row[]> =>
  onStage(async (stage) => {
    const parent = tempDir('launch')
    const root = await realpath(parent.path)
    const source = join(root, 'source')
    const revision = await largeRepository(source)
    const host = await startHost(stage, createWorktreesPlugin({ gitTimeoutMs: 120_000 }))
    let round = 0
    const samples = await interleave(
      {
        ours: () =>
          timed(async () => {
            const name = `ours-${String((round += 1))}`
            const receipt = await host.call('create_worktree_thread', {
              request_id: name,
              source_repository: source,
              starting_revision: revision,
              destination: join(root, name),
              worktree_mode: 'bridge-managed-retained',
              sandbox: 'read-only',
              expected_sandbox_policy: { type: 'readOnly', networkAccess: false },
              prompt: 'Count the files.',
            })
            const status = at(receipt, 'status')
            if (status !== 'accepted') throw new Error(`create_worktree_thread ended ${String(status)}`)
          }),
        baseline: () =>
          timed(() =>
            execa('git', ['worktree', 'add', '--detach', join(root, `plain-${String(round)}`), revision], {
              cwd: source,
            }),
          ),
      },
      ROUNDS,
    )
    await host.close()
    await parent.remove()
    return [
      rowOf({
        what: 'create_worktree_thread, 20,000 files : git worktree add',
        unit: 'ms',
        ...samples,
        goal: atMost(1.3),
      }),
    ]
  })

const largeRepository = async (root: string): Promise<string> => {
  for (let directory = 0; directory < DIRECTORIES; directory += 1) {
    const path = join(root, `directory-${String(directory)}`)
    await mkdir(path, { recursive: true })
    await Promise.all(
      Array.from({ length: FILES_EACH }, (_, file) =>
        writeFile(
          join(path, `file-${String(file)}.ts`),
          `export const n = ${String(directory * file)}\n`.repeat(20),
        ),
      ),
    )
  }
  const git = (...args: string[]) => execa('git', args, { cwd: root })
  await git('init', '--quiet')
  await git('add', '--all')
  await git('-c', 'user.name=Bench', '-c', 'user.email=bench@localhost', 'commit', '--quiet', '-m', 'files')
  const { stdout } = await git('rev-parse', 'HEAD')
  return stdout
}
