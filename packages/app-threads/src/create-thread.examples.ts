import type { Example } from '@codex-thread-bridge/core/contract'

const started = {
  thread: {
    id: '01a22d6c-ee00-7d30-84f1-a4cd16c32862',
    cwd: '/',
    status: { type: 'idle' },
    projectId: 'project-1',
  },
  cwd: '/',
  model: 'gpt-5.5',
  approvalPolicy: 'never',
  approvalsReviewer: 'user',
  sandbox: { type: 'readOnly', networkAccess: false },
  activePermissionProfile: { id: ':read-only', extends: null },
  reasoningEffort: 'high',
}

/** A thread in the directory of a project. */
export const examples: readonly Example[] = [
  {
    input: {
      prompt: 'Read src/parser.ts and list what is wrong with it.',
      title: 'Review the parser',
      target: { type: 'project', projectId: 'project-1', environment: { type: 'local' } },
      model: 'gpt-5.5',
      thinking: 'high',
    },
    answers: {
      'model/list': {
        data: [{ id: 'gpt-5.5', model: 'gpt-5.5', supportedReasoningEfforts: [{ reasoningEffort: 'high' }] }],
      },
      'project/list': { data: [{ id: 'project-1', name: 'Parser', roots: [{ path: '/' }] }] },
      'project/read': { project: { id: 'project-1' } },
      'permissionProfile/list': { data: [{ id: ':read-only', allowed: true }], nextCursor: null },
      'thread/start': started,
      'thread/section/move': {},
      'thread/settings/update': {},
      'thread/name/set': {},
      'turn/start': { turn: { id: '01a22d6c-ee10-7d30-84f1-a4cd16c32862', status: 'inProgress', items: [] } },
      'thread/items/list': {
        data: [
          {
            turnId: '01a22d6c-ee10-7d30-84f1-a4cd16c32862',
            item: { type: 'userMessage', id: 'item-1', clientId: '{marker}' },
          },
        ],
      },
      'thread/unsubscribe': { status: 'unsubscribed' },
    },
  },
]
