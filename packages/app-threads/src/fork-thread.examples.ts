import type { Example } from '@codex-thread-bridge/core/contract'

const source = { id: '01a22d6c-ee00-7d30-84f1-a4cd16c32862', cwd: '/work/parser', status: { type: 'active' } }
const fork = { id: '01a22d6c-ee20-7d30-84f1-a4cd16c32862', cwd: '/work/parser', status: { type: 'idle' } }

/** A thread with a running turn is forked before that turn. */
export const examples: readonly Example[] = [
  {
    input: { threadId: source.id },
    answers: {
      'thread/read': { thread: source },
      'permissionProfile/list': { data: [{ id: ':read-only', allowed: true }], nextCursor: null },
      'thread/turns/list': {
        data: [{ id: '01a22d6c-ee10-7d30-84f1-a4cd16c32862', status: 'inProgress', items: [] }],
      },
      'thread/fork': {
        thread: fork,
        cwd: '/work/parser',
        model: 'gpt-5.5',
        approvalPolicy: 'never',
        sandbox: { type: 'readOnly', networkAccess: false },
        activePermissionProfile: { id: ':read-only' },
      },
      'thread/section/move': {},
      'thread/settings/update': {},
      'thread/unsubscribe': { status: 'unsubscribed' },
    },
  },
]
