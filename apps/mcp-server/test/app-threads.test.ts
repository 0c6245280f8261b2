import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import {
  at,
  createRepository,
  listAt,
  NEWEST_CODEX,
  poll,
  startMcpClient,
  startWorld,
  tempDir,
  textAt,
  type McpClientProcess,
  type Repository,
  type TempDir,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mainPath, runBridge } from './run-bridge.ts'

const TOOLS = [
  'create_thread',
  'fork_thread',
  'get_capabilities',
  'get_handoff_status',
  'get_operation',
  'handoff_thread',
  'list_operations',
  'list_projects',
  'list_threads',
  'read_thread',
  'send_message_to_thread',
  'set_thread_archived',
  'set_thread_pinned',
  'set_thread_title',
  'wait_threads',
]

describe('the profile codex-app', () => {
  it('has this family’s tools and the operations', async () => {
    const { stdout } = await runBridge(['--profile', 'codex-app', 'manifest', '--json'])
    const names = listAt(JSON.parse(stdout), 'plugins').flatMap((plugin) =>
      listAt(plugin, 'tools').map((tool) => textAt(tool, 'name')),
    )
    expect(names.sort()).toEqual(TOOLS)
  })

  it.each(['threads,app-threads', 'app-threads,reads'])(
    'is refused beside another owner of a tool’s name (%s), naming both',
    async (plugins) => {
      const { code, stderr } = await runBridge(['--plugins', plugins])
      expect(code).toBe(1)
      const { code: error, message } = JSON.parse(stderr) as { code: string; message: string }
      expect(error).toBe('duplicate_tool')
      for (const owner of plugins.split(',')) expect(message).toContain(owner)
    },
  )
})

describe('creations and a bridge that dies', () => {
  let world: World
  let state: TempDir
  let repository: Repository
  const bridges: McpClientProcess[] = []

  beforeEach(async () => {
    world = await startWorld({ version: NEWEST_CODEX })
    state = tempDir('state')
    repository = await createRepository()
  })
  afterEach(async () => {
    await Promise.all(bridges.splice(0).map((bridge) => bridge.close()))
    await world.close()
    await repository.remove()
    await state.remove()
  })

  const start = async (path?: string): Promise<McpClientProcess> => {
    const bridge = await startMcpClient({
      command: process.execPath,
      args: [
        ...[mainPath, '--socket', world.socketPath, '--state-dir', state.path],
        ...['--profile', 'codex-app', '--project', repository.root],
        ...['--documents-root', join(state.path, 'documents')],
      ],
      env: { HOME: world.home.path, PATH: path ?? process.env.PATH ?? '' },
    })
    bridges.push(bridge)
    return bridge
  }
  const meta = { threadId: '01a22d6c-ee00-7d30-84f1-a4cd16c32862', callId: 'call-1' }
  const started = () => world.proxy.reached('thread/start').length

  /** A `git` that never ends when it is to write the files of a worktree. */
  const stuckGit = async (): Promise<string> => {
    const folder = join(state.path, 'bin')
    await mkdir(folder)
    const script = `#!/bin/sh\nPATH=${process.env.PATH ?? ''}\ncase " $* " in *" read-tree "*) exec sleep 60;; esac\nexec git "$@"\n`
    await writeFile(join(folder, 'git'), script)
    await chmod(join(folder, 'git'), 0o755)
    return `${folder}${delimiter}${process.env.PATH ?? ''}`
  }

  it('tells after a restart that nothing was started, and never makes it twice', async () => {
    const first = await start(await stuckGit())
    const projects = await first.call('list_projects')
    const args = {
      prompt: 'x',
      target: { type: 'project', projectId: textAt(projects.structured, 'projects.0.projectId') },
    }
    const answer = await first.call('create_thread', args, { meta })
    const clientThreadId = textAt(answer.structured, 'clientThreadId')
    expect(answer.structured).toMatchObject({ execution: 'running', phase: 'creating' })
    await first.kill()
    const second = await start()
    const creation = { clientThreadId, phase: 'failed', reason: 'Nothing was started.' }
    expect((await second.call('read_thread', { threadId: clientThreadId })).structured).toMatchObject({
      creation,
    })
    expect(
      (await second.call('wait_threads', { targets: [{ threadId: clientThreadId }] })).structured,
    ).toMatchObject({
      timedOut: false,
      wake: { reason: 'inactiveStatus' },
      polls: [{ creation }],
    })
    expect((await second.call('create_thread', args, { meta })).structured).toMatchObject({
      replayed: true,
      status: 'failed',
      requestId: textAt(answer.structured, 'requestId'),
    })
    expect(started()).toBe(0)
  })

  it('finds the thread again that was made meanwhile', async () => {
    const first = await start()
    const rule = world.proxy.on({ method: 'turn/start', kind: 'request' }, 'delay')
    const args = { prompt: 'hello', target: { type: 'projectless' } }
    const answer = await first.call('create_thread', args, { meta })
    const clientThreadId = textAt(answer.structured, 'clientThreadId')
    await first.kill()
    rule.remove()
    const second = await start()
    const found = await poll(async () => {
      const { structured } = await second.call('read_thread', { threadId: clientThreadId })
      return at(structured, 'creation.phase') !== 'queued' && structured
    })
    expect(textAt(found, 'creation.phase')).toMatch(/^(ready|failed|conversation-starting)$/)
    const again = await second.call('create_thread', args, { meta })
    expect(again.structured).toMatchObject({ replayed: true, threadId: expect.any(String) as string })
    expect(started()).toBe(1)
  })

  it('repeats a call with the same identity as the same call, over a restart too', async () => {
    const first = await start()
    const args = { prompt: 'once', target: { type: 'projectless' } }
    const before = await first.call('create_thread', args, { meta })
    await first.kill()
    const second = await start()
    const again = await second.call('create_thread', args, { meta })
    expect(again.structured).toEqual({ ...before.structured, replayed: true })
    expect(started()).toBe(1)
    const other = await second.call('create_thread', { ...args, prompt: 'another' }, { meta })
    expect(other.structured).toMatchObject({ replayed: false, status: 'accepted' })
    expect(started()).toBe(2)
  })
})
