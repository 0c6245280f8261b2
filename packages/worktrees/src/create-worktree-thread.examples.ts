import type { Example } from '@codex-thread-bridge/core/contract'

const threadId = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
const turnId = '01a22d6c-ee10-7d30-84f1-a4cd16c32862'

/** A titled thread with a prompt, in a worktree of its own; the paths are those of the machine that it runs on. */
const exampleAt = (source: string, revision: string, destination: string): Example => ({
  input: {
    request_id: 'fix-parser-1',
    source_repository: source,
    starting_revision: revision,
    destination,
    worktree_mode: 'bridge-managed-retained',
    sandbox: 'workspace-write',
    expected_sandbox_policy: {
      type: 'workspaceWrite',
      writableRoots: [],
      networkAccess: false,
      excludeTmpdirEnvVar: false,
      excludeSlashTmp: false,
    },
    title: 'Fix the parser',
    prompt: 'Make the failing parser tests pass.',
    app_server_project_id: 'project-1',
  },
  answers: {
    'project/read': { project: { id: 'project-1' } },
    'permissionProfile/list': { data: [{ id: ':workspace', allowed: true }], nextCursor: null },
    'thread/start': {
      thread: { id: threadId, cwd: destination, status: { type: 'idle' }, projectId: 'project-1' },
      cwd: destination,
      model: 'gpt-5.5',
      approvalPolicy: 'never',
      approvalsReviewer: 'user',
      sandbox: {
        type: 'workspaceWrite',
        writableRoots: [],
        networkAccess: false,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      },
      activePermissionProfile: { id: ':workspace', extends: null },
      reasoningEffort: null,
      runtimeWorkspaceRoots: [destination],
    },
    'thread/section/move': {},
    'thread/settings/update': {},
    'thread/name/set': {},
    'turn/start': { turn: { id: turnId, status: 'inProgress', items: [] } },
    'thread/items/list': {
      data: [{ turnId, item: { type: 'userMessage', id: 'item-1', clientId: '{marker}' } }],
    },
    'thread/unsubscribe': { status: 'unsubscribed' },
  },
})

export const examples: readonly Example[] = [
  exampleAt('/srv/parser', '0123456789abcdef0123456789abcdef01234567', '/srv/worktrees/parser-1'),
]
