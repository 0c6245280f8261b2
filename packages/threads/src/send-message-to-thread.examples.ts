import type { Example } from '@codex-thread-bridge/core/contract'

const id = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
const turn = '01a22d6c-ee10-7d30-84f1-a4cd16c32862'

const threadThat = (status: object) => ({ id, cwd: '/', status, projectId: 'project-1' })
const idle = threadThat({ type: 'idle' })
const active = threadThat({ type: 'active', activeFlags: [] })

const resumedAs = (thread: object) => ({
  thread,
  cwd: '/',
  model: 'gpt-5.5',
  approvalPolicy: 'never',
  approvalsReviewer: 'user',
  sandbox: { type: 'readOnly', networkAccess: false },
  activePermissionProfile: { id: ':read-only', extends: null },
  reasoningEffort: null,
})

const recorded = {
  data: [{ turnId: turn, item: { type: 'userMessage', id: 'item-1', clientId: '{marker}' } }],
}
const unsubscribed = { status: 'unsubscribed' }

/** The thread of create_thread's example: idle, then with a running turn. */
export const examples: readonly Example[] = [
  {
    input: { request_id: 'follow-up-1', thread_id: id, message: 'Now fix the first one.' },
    answers: {
      'thread/read': { thread: idle },
      'thread/queue/list': { data: [] },
      'thread/resume': resumedAs(idle),
      'turn/start': { turn: { id: turn, status: 'inProgress', items: [] } },
      'thread/items/list': recorded,
      'thread/unsubscribe': unsubscribed,
    },
  },
  {
    input: { request_id: 'follow-up-2', thread_id: id, message: 'Leave the tests alone.', if_busy: 'steer' },
    answers: {
      'thread/read': { thread: active },
      'thread/resume': resumedAs(active),
      'thread/turns/list': { data: [{ id: turn, status: 'inProgress', items: [] }] },
      'turn/steer': { turnId: turn },
      'thread/items/list': recorded,
      'thread/unsubscribe': unsubscribed,
    },
  },
  {
    input: {
      request_id: 'follow-up-3',
      thread_id: id,
      message: 'Then write the changelog.',
      if_busy: 'queue',
    },
    answers: {
      'thread/read': { thread: active },
      'thread/resume': resumedAs(active),
      'thread/queue/add': { queuedSubmission: { id: 'queued-1', clientUserMessageId: '{marker}' } },
      'thread/queue/list': { data: [{ id: 'queued-1', clientUserMessageId: '{marker}' }] },
      'thread/unsubscribe': unsubscribed,
    },
  },
]
