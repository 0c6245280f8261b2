import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  at,
  createRepository,
  holdReply,
  listAt,
  type ModelRequest,
  startWorld,
  testedVersions,
  textAt,
} from '@codex-thread-bridge/test-fixtures'
import { describe, expect, it } from 'vitest'
import { latestAnswer, runAgent, toolCall } from './codex-agent.ts'

const TASK = 'Have two agents look at the parser.'

/** A step of the story: the call that the agent makes next, from the answer to its last one. */
type Step = (answer: unknown) => ReturnType<typeof toolCall> | { readonly text: string }

const call = (name: string, args: object = {}) => toolCall(name, args, 'codex_app')

describe.each(testedVersions)('a real Codex agent %s with codex_app among its MCP servers', (version) => {
  it('makes two workers, waits for both, reads, steers, forks, pins, titles, hands off and archives', async () => {
    const world = await startWorld({ version })
    const repository = await createRepository()
    const second = holdReply({ then: { text: 'The second one is done.' } })
    const answers: unknown[] = []
    let [projectId, first, other, fork, moved] = ['', '', '', '', '']
    await writeFile(join(repository.root, 'uncommitted.txt'), 'carried\n')
    world.model.when('Look at the lexer.', { text: 'The lexer is fine.' })
    world.model.when('Look at the tests.', second)
    world.model.when('And at the docs.', { text: 'The second one is done, docs too.' })

    const targets = () => [{ threadId: first }, { threadId: other }]
    const story: readonly Step[] = [
      () => call('list_projects'),
      (answer) => {
        projectId = textAt(answer, 'projects.0.projectId')
        const environment = { type: 'worktree', startingState: { type: 'working-tree' } }
        return call('create_thread', {
          prompt: 'Look at the lexer.',
          target: { type: 'project', projectId, environment },
          title: 'Lexer',
        })
      },
      (answer) => {
        first = textAt(answer, 'threadId')
        return call('create_thread', {
          prompt: 'Look at the tests.',
          target: { type: 'project', projectId, environment: { type: 'local' } },
        })
      },
      (answer) => {
        other = textAt(answer, 'threadId')
        return call('send_message_to_thread', { threadId: other, prompt: 'And at the docs.' })
      },
      () => {
        second.release()
        return call('wait_threads', { targets: targets(), mode: 'all', timeoutMs: 40_000 })
      },
      () => call('read_thread', { threadId: other, turnLimit: 1 }),
      () => call('fork_thread', { threadId: first }),
      (answer) => {
        fork = textAt(answer, 'threadId')
        return call('set_thread_pinned', { threadId: fork, pinned: true })
      },
      () => call('set_thread_title', { threadId: fork, title: 'Lexer, again' }),
      () => call('list_threads', { limit: 5 }),
      () => call('handoff_thread', { threadId: other }),
      (answer) =>
        call('get_handoff_status', {
          operationId: textAt(answer, 'operationId'),
          afterRevision: 100,
          waitMs: 30_000,
        }),
      (answer) => {
        moved = textAt(answer, 'threadId')
        return call('handoff_thread', { threadId: moved })
      },
      (answer) =>
        call('get_handoff_status', {
          operationId: textAt(answer, 'operationId'),
          afterRevision: 100,
          waitMs: 30_000,
        }),
      () => call('set_thread_archived', { threadId: first, archived: true }),
      () => ({ text: 'All is done.' }),
    ]
    const scripts = story.map((step, place) => (request: ModelRequest) => {
      const answer = place === 0 ? {} : latestAnswer(request)
      answers.push(answer)
      return step(answer)
    })
    const [begin, ...rest] = scripts
    if (begin === undefined) throw new Error('the story has no beginning')
    world.model.when(TASK, begin, ...rest)

    try {
      const stdout = await runAgent({
        world,
        task: TASK,
        sandbox: 'workspace-write',
        server: 'codex_app',
        bridge: ['--profile', 'codex-app', '--project', repository.root],
      })
      expect(stdout).toContain('All is done.')
      expect(answers.filter((answer) => at(answer, 'error') !== undefined)).toEqual([])
      const [, , , , sent, waited, read, , pinned, titled, listed, , there, , back, archived] = answers
      expect(sent).toMatchObject({ status: 'accepted', delivery: { as: 'steer' } })
      expect(waited).toMatchObject({ timedOut: false })
      expect(listAt(waited, 'polls').map((poll) => at(poll, 'latestTurn.status'))).toEqual([
        'completed',
        'completed',
      ])
      expect(JSON.stringify(read)).toContain('And at the docs.')
      expect(pinned).toMatchObject({ pinned: true })
      expect(titled).toMatchObject({ title: 'Lexer, again', threadId: fork })
      expect(listed).toMatchObject({ pinnedThreads: [{ id: fork, title: 'Lexer, again', pinnedIndex: 1 }] })
      expect(there).toMatchObject({
        status: 'success',
        direction: 'local-to-worktree',
        sourceThreadId: other,
      })
      expect(back).toMatchObject({ status: 'success', direction: 'worktree-to-local', sourceThreadId: moved })
      expect(archived).toMatchObject({ archived: true, threadId: first })
      expect(await repository.git(['status', '--porcelain'])).toBe('?? uncommitted.txt')
    } finally {
      await world.close()
      await repository.remove()
    }
  })
})
