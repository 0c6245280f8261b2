import type { Example } from '@codex-thread-bridge/core/contract'

const source = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
const fork = '01a22d6c-ee20-7d30-84f1-a4cd16c32862'
const turn = '01a22d6c-ee30-7d30-84f1-a4cd16c32862'

/** A thread that works in `from` goes on in `to`: one of them is a checkout, the other its worktree. */
export const handoffExample = (from: string, to: string): Example => ({
  input: { threadId: source, followUpPrompt: 'Go on here.' },
  answers: {
    'thread/read': {
      thread: {
        id: source,
        cwd: from,
        status: { type: 'idle' },
        name: 'Review the parser',
      },
    },
    'thread/queue/list': { data: [] },
    'permissionProfile/list': { data: [{ id: ':read-only', allowed: true }] },
    'thread/turns/list': { data: [] },
    'thread/fork': {
      thread: { id: fork, cwd: to, status: { type: 'idle' } },
      cwd: to,
      model: 'gpt-5.5',
      approvalPolicy: 'never',
      sandbox: { type: 'readOnly', networkAccess: false },
      activePermissionProfile: { id: ':read-only' },
      runtimeWorkspaceRoots: [to],
    },
    'thread/section/move': {},
    'thread/settings/update': {},
    'thread/unsubscribe': { status: 'unsubscribed' },
    'thread/name/set': {},
    'thread/archive': {},
    'thread/resume': {
      thread: { id: fork, cwd: to, status: { type: 'idle' } },
      cwd: to,
      model: 'gpt-5.5',
      approvalPolicy: 'never',
      sandbox: { type: 'readOnly', networkAccess: false },
    },
    'turn/start': { turn: { id: turn, status: 'inProgress', items: [] } },
    'thread/items/list': {
      data: [{ turnId: turn, item: { type: 'userMessage', id: 'item-1', clientId: '{marker}' } }],
    },
  },
})

/** A thread is handed off. */
export const examples: readonly Example[] = [
  handoffExample('/work/parser', '/state/worktrees/parser-0a1b2c3d4e5f/6a7b8c9d0e1f'),
]
