import { createAppThreadsPlugin } from '@codex-thread-bridge/app-threads'
import { createGit } from '@codex-thread-bridge/core/git'
import { createHost, type Host } from '@codex-thread-bridge/core/host'
import { cannedAppServer, memoryLedger } from '@codex-thread-bridge/core/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refusal } from './family.ts'

const CREATE = 'prompt, target, title, model, thinking'
const SEND = 'threadId, prompt, hostId, model, thinking'
const id = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
const project = { type: 'project', projectId: 'p' }
const worktree = (startingState: object) => ({
  prompt: 'x',
  target: { ...project, environment: { type: 'worktree', startingState } },
})

/** What agents get wrong: tool, arguments, the key that the error names, and its words. */
const cases: readonly (readonly [string, object, string, string])[] = [
  // The prompt under another name
  ['create_thread', { content: 'x', target: project }, 'content', `Allowed: ${CREATE}.`],
  ['create_thread', { message: 'x', target: project }, 'message', `Allowed: ${CREATE}.`],
  ['create_thread', { text: 'x', target: project }, 'text', `Allowed: ${CREATE}.`],
  ['send_message_to_thread', { threadId: id, content: 'x' }, 'content', `Allowed: ${SEND}.`],
  ['send_message_to_thread', { threadId: id, message: 'x' }, 'message', `Allowed: ${SEND}.`],
  ['send_message_to_thread', { threadId: id, text: 'x' }, 'text', `Allowed: ${SEND}.`],
  ['send_message_to_thread', { thread_id: id, prompt: 'x' }, 'thread_id', `Allowed: ${SEND}.`],
  ['create_thread', { prompt: ' \n', target: project }, 'prompt', 'must not be blank'],
  // What belongs into the target
  ['create_thread', { prompt: 'x', projectId: 'p' }, 'projectId', `Allowed: ${CREATE}.`],
  ['create_thread', { prompt: 'x', kind: 'project' }, 'kind', `Allowed: ${CREATE}.`],
  ['create_thread', { prompt: 'x', projectKind: 'local' }, 'projectKind', `Allowed: ${CREATE}.`],
  ['create_thread', { prompt: 'x', cwd: '/tmp' }, 'cwd', `Allowed: ${CREATE}.`],
  [
    'create_thread',
    { prompt: 'x', environment: { type: 'local' }, target: project },
    'environment',
    `Allowed: ${CREATE}.`,
  ],
  ['create_thread', { prompt: 'x' }, 'target', '`target` is required.'],
  ['create_thread', { prompt: 'x', target: 'p' }, 'target', 'must be an object'],
  ['create_thread', { prompt: 'x', target: {} }, 'target.type', '`target.type` is required.'],
  [
    'create_thread',
    { prompt: 'x', target: { type: 'local', projectId: 'p' } },
    'target.type',
    'must be one of "project", "projectless", "chatgptWorkCloud"',
  ],
  [
    'create_thread',
    { prompt: 'x', target: { kind: 'project', projectId: 'p' } },
    'target.kind',
    'Allowed: type, projectId, environment, directoryName.',
  ],
  // Members of another variant
  [
    'create_thread',
    { prompt: 'x', target: { type: 'project' } },
    'target.projectId',
    'It takes: projectId (required), environment.',
  ],
  [
    'create_thread',
    { prompt: 'x', target: { ...project, directoryName: 'd' } },
    'target.directoryName',
    'does not go with target.type "project". It takes: projectId (required), environment.',
  ],
  [
    'create_thread',
    { prompt: 'x', target: { type: 'projectless', projectId: 'p' } },
    'target.projectId',
    'does not go with target.type "projectless". It takes: directoryName.',
  ],
  [
    'create_thread',
    {
      prompt: 'x',
      target: { ...project, environment: { type: 'local', startingState: { type: 'working-tree' } } },
    },
    'target.environment.startingState',
    'does not go with target.environment.type "local". It takes no other member.',
  ],
  [
    'create_thread',
    { prompt: 'x', target: { ...project, environment: 'worktree' } },
    'target.environment',
    'must be an object',
  ],
  [
    'create_thread',
    worktree({ type: 'branch' }),
    'target.environment.startingState.branchName',
    'is required with',
  ],
  [
    'create_thread',
    worktree({ type: 'branch', branch: 'main' }),
    'target.environment.startingState.branch',
    'Allowed: type, branchName, onMissing.',
  ],
  [
    'create_thread',
    worktree({ type: 'working-tree', branchName: 'main' }),
    'target.environment.startingState.branchName',
    'does not go with target.environment.startingState.type "working-tree". It takes no other member.',
  ],
  [
    'create_thread',
    { prompt: 'x', target: project, thinking: 'hard' },
    'thinking',
    'must be one of "none", "minimal"',
  ],
  // The other tools
  ['list_projects', { limit: 5 }, 'limit', 'is not an argument here'],
  ['list_threads', { limit: 51 }, 'limit', 'must be <= 50'],
  ['list_threads', { limit: 0 }, 'limit', 'must be >= 1'],
  ['list_threads', { cursor: { at: 1 } }, 'cursor', 'Pass the string exactly as it was returned.'],
  ['list_threads', { status: 'idle' }, 'status', 'Allowed: limit, cursor, query, cwd, includeArchived.'],
  ['read_thread', {}, 'threadId', '`threadId` is required.'],
  ['read_thread', { threadId: id, turnLimit: 11 }, 'turnLimit', 'must be <= 10'],
  [
    'read_thread',
    { threadId: id, limit: 5 },
    'limit',
    'Allowed: threadId, hostId, cursor, turnLimit, includeOutputs, maxOutputCharsPerItem.',
  ],
  [
    'read_thread',
    { threadId: id, maxOutputCharsPerItem: 20_001 },
    'maxOutputCharsPerItem',
    'must be <= 20000',
  ],
  ['read_thread', { threadId: id, hostId: 'remote' }, 'hostId', 'must be one of "local"'],
  ['wait_threads', { threadIds: [id] }, 'threadIds', 'Allowed: targets, timeoutMs, mode.'],
  ['wait_threads', { targets: [id] }, 'targets.0', 'must be an object'],
  ['wait_threads', { targets: [{ id }] }, 'targets.0.id', 'Allowed: threadId, hostId, afterCursor.'],
  [
    'wait_threads',
    { targets: [{ threadId: id }], timeout: 5 },
    'timeout',
    'Allowed: targets, timeoutMs, mode.',
  ],
  [
    'wait_threads',
    { targets: [{ threadId: id, afterCursor: {} }] },
    'targets.0.afterCursor',
    'Pass the string exactly as it was returned.',
  ],
  ['fork_thread', { environment: 'same-directory' }, 'environment', 'must be an object'],
  ['fork_thread', { threadId: id, prompt: 'x' }, 'prompt', 'Allowed: threadId, environment.'],
  ['set_thread_title', { threadId: id, name: 'x' }, 'name', 'Allowed: threadId, title.'],
  ['set_thread_title', { threadId: id, title: '' }, 'title', 'must not be empty'],
  ['set_thread_archived', { threadId: id }, 'archived', '`archived` is required.'],
  ['set_thread_archived', { threadId: id, archived: 'yes' }, 'archived', 'must be a boolean'],
  [
    'set_thread_pinned',
    { threadId: id, pinnedIndex: 1, pinned: true },
    'pinnedIndex',
    'Allowed: threadId, pinned.',
  ],
]

describe('bad input', () => {
  let host: Host
  beforeAll(async () => {
    host = createHost({ appServer: cannedAppServer({}), ledger: memoryLedger() })
    host.register(
      createAppThreadsPlugin({
        operations: host.operations,
        projects: [],
        documentsRoot: '/nowhere',
        worktreesDir: '/nowhere',
        git: createGit({ timeoutMs: 10_000 }),
        defaultPermissions: ':read-only',
        provenance: false,
      }),
    )
    await host.ready()
  })
  afterAll(() => host.close())

  it.each(cases)('%s %j names %s and the rule', async (tool, args, field, message) => {
    expect(await refusal(host.call(tool, args))).toEqual({
      code: 'invalid_arguments',
      field,
      message: expect.stringContaining(message) as string,
    })
  })

  it('says of a work in the ChatGPT cloud that it cannot be made here', async () => {
    const target = { type: 'chatgptWorkCloud', projectId: 'p' }
    expect(await refusal(host.call('create_thread', { prompt: 'x', target }))).toMatchObject({
      code: 'unsupported_target',
      field: 'target.type',
    })
  })

  it('leaves no receipt', async () => {
    expect((await host.operations.list({ limit: 10 })).receipts).toEqual([])
  })
})
