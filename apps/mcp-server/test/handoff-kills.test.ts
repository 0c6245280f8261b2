import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import {
  at,
  createRepository,
  NEWEST_CODEX,
  poll,
  startMcpClient,
  startWorld,
  tempDir,
  textAt,
  type McpClientProcess,
  type RawClient,
  type Repository,
  type TempDir,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mainPath } from './run-bridge.ts'

/** Where the bridge is killed: while Git runs a command for the nth time, or while the App Server works on a request. */
interface Kill {
  readonly git?: string
  readonly nth?: number
  readonly method?: string
}

const intoWorktree: readonly Kill[] = [
  { git: 'worktree add' },
  { git: 'read-tree' },
  { git: 'update-index -z' },
  { git: 'update-index -q' },
  { method: 'thread/fork' },
  { method: 'thread/section/move' },
  { method: 'thread/name/set' },
  { method: 'thread/archive' },
  { git: 'update-index -z', nth: 2 },
  { git: 'checkout-index' },
  { git: 'update-index -q', nth: 2 },
  { git: 'update-index -q', nth: 3 },
  { method: 'turn/start' },
]
const intoCheckout: readonly Kill[] = [
  { git: 'merge --quiet' },
  { git: 'update-index -z' },
  { method: 'thread/fork' },
  { method: 'thread/archive' },
  { git: 'checkout-index' },
]

describe('a handoff whose bridge is killed', () => {
  let world: World
  let client: RawClient
  let state: TempDir
  let repository: Repository
  const bridges: McpClientProcess[] = []

  beforeEach(async () => {
    world = await startWorld({ version: NEWEST_CODEX })
    client = await world.openClient()
    state = tempDir('state')
    repository = await createRepository({
      files: [
        { path: 'changed.txt', content: 'old\n' },
        { path: 'deleted.txt', content: 'old\n' },
      ],
    })
  })
  afterEach(async () => {
    await Promise.all(bridges.splice(0).map((bridge) => bridge.close()))
    await world.close()
    await repository.remove()
    await state.remove()
  })

  const start = async (path = process.env.PATH ?? ''): Promise<McpClientProcess> => {
    const bridge = await startMcpClient({
      command: process.execPath,
      args: [mainPath, '--socket', world.socketPath, '--state-dir', state.path, '--profile', 'codex-app'],
      env: { HOME: world.home.path, PATH: path },
    })
    bridges.push(bridge)
    return bridge
  }

  /** A `git` that says when it is to run a command for the nth time, and does not run it. */
  const stuckGit = async ({ git = '', nth = 1 }: Kill): Promise<{ path: string; reached: string }> => {
    const folder = join(state.path, 'bin')
    const reached = join(folder, 'reached')
    await mkdir(folder)
    const script = `#!/bin/sh
PATH=${process.env.PATH ?? ''}
case " $* " in *" ${git} "*)
  echo x >> ${folder}/count
  if [ "$(wc -l < ${folder}/count)" -eq ${nth} ]; then touch ${reached}; exec sleep 60; fi;;
esac
exec git "$@"
`
    await writeFile(join(folder, 'git'), script)
    await chmod(join(folder, 'git'), 0o755)
    return { path: `${folder}${delimiter}${process.env.PATH ?? ''}`, reached }
  }

  /** Hands off, and kills the bridge at that place. */
  const killAt = async (kill: Kill, threadId: string): Promise<string> => {
    const { path, reached } = await stuckGit(kill)
    const bridge = await start(kill.git === undefined ? undefined : path)
    const rule =
      kill.method === undefined
        ? undefined
        : world.proxy.on({ method: kill.method, kind: 'response' }, 'delay')
    const begun = await bridge.call('handoff_thread', { threadId, followUpPrompt: 'Only once.' })
    await (rule === undefined
      ? poll(() => import('node:fs').then(({ existsSync }) => existsSync(reached)), {
          what: 'Git to be stuck',
        })
      : rule.waitFired())
    await bridge.kill()
    world.proxy.clear()
    return textAt(begun.structured, 'operationId')
  }

  const finished = async (bridge: McpClientProcess, operationId: string) => {
    let answer: unknown
    do {
      answer = (await bridge.call('get_handoff_status', { operationId, afterRevision: 1_000, waitMs: 2_000 }))
        .structured
    } while (at(answer, 'status') === 'running')
    return answer
  }

  const status = (cwd: string) => repository.git(['status', '--porcelain', '--untracked-files=all'], cwd)
  const diff = (cwd: string) => repository.git(['diff', '--binary', 'HEAD'], cwd)
  const workIn = async (root: string) => [await status(root), await diff(root)]
  const work = async (root: string) => {
    await writeFile(join(root, 'changed.txt'), 'staged\n')
    await repository.git(['add', 'changed.txt'], root)
    await writeFile(join(root, 'changed.txt'), 'and more\n')
    await repository.git(['rm', '--quiet', 'deleted.txt'], root)
    await writeFile(join(root, 'new.txt'), 'new\n')
  }
  const threadIn = async (cwd: string) => {
    const threadId = await client.startThread({ cwd, permissions: ':workspace', sandbox: undefined })
    await client.runTurn(threadId, 'work here')
    await client.call('thread/name/set', { threadId, name: 'The work' })
    return threadId
  }

  /** What must hold after every kill, and after the second try. */
  const checkAll = async (kill: Kill, threadId: string, source: string) => {
    const wanted = await workIn(source)
    const operationId = await killAt(kill, threadId)
    const bridge = await start()
    const cut = (await bridge.call('get_handoff_status', { operationId })).structured
    expect(at(cut, 'status')).toMatch(/^(error|warning|success)$/)
    const side = textAt(cut, at(cut, 'workIn') === 'destination' ? 'destination' : 'source')
    expect(await workIn(side)).toEqual(wanted)
    if (at(cut, 'status') !== 'success') expect(textAt(cut, 'message')).toContain('again to finish it')

    const again = await bridge.call('handoff_thread', { threadId, followUpPrompt: 'Only once.' })
    const done =
      at(cut, 'status') === 'success' ? cut : await finished(bridge, textAt(again.structured, 'operationId'))
    expect(done).toMatchObject({ status: 'success', workIn: 'destination' })
    expect(await workIn(textAt(done, 'destination'))).toEqual(wanted)
    expect(await status(source)).toBe('')
    const moved = textAt(done, 'threadId')
    const said = await poll(async () => {
      const all = await client.transcript(moved)
      return all.includes('Only once.') && all
    })
    expect(said.filter((text) => text === 'Only once.')).toHaveLength(1)
    expect(at(await client.call('thread/read', { threadId }), 'thread.path')).toContain('archived_sessions')
    return done
  }

  it.each(intoWorktree)(
    'into a worktree at %j keeps the work whole, and a second try finishes it',
    async (kill) => {
      await work(repository.root)
      await checkAll(kill, await threadIn(repository.root), repository.root)
    },
  )

  it.each(intoCheckout)(
    'into the checkout at %j keeps the work whole, and a second try finishes it',
    async (kill) => {
      const first = await start()
      const threadId = await threadIn(repository.root)
      const begun = await first.call('handoff_thread', { threadId })
      const there = await finished(first, textAt(begun.structured, 'operationId'))
      const worktree = textAt(there, 'destination')
      await repository.git(['commit', '--quiet', '--allow-empty', '-m', 'In the worktree'], worktree)
      await work(worktree)
      await checkAll(kill, textAt(there, 'threadId'), worktree)
    },
  )
})
