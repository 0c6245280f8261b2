import type { Example } from '@codex-thread-bridge/core/contract'

const id = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
const turn = '01a22d6c-ee10-7d30-84f1-a4cd16c32862'

const threadThat = (status: object) => ({ id, cwd: '/', status })
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

/** To an idle thread with another effort; to one with a running turn. */
export const examples: readonly Example[] = [
  {
    input: { threadId: id, prompt: 'Now fix the first one.', model: 'gpt-5.5', thinking: 'high' },
    answers: {
      'model/list': {
        data: [{ id: 'gpt-5.5', model: 'gpt-5.5', supportedReasoningEfforts: [{ reasoningEffort: 'high' }] }],
      },
      'thread/read': { thread: idle },
      'thread/queue/list': { data: [] },
      'thread/resume': resumedAs(idle),
      'turn/start': { turn: { id: turn, status: 'inProgress', items: [] } },
      'thread/items/list': recorded,
      'thread/unsubscribe': { status: 'unsubscribed' },
    },
  },
  {
    input: { threadId: id, prompt: 'Leave the tests alone.' },
    answers: {
      'thread/read': { thread: active },
      'thread/resume': resumedAs(active),
      'thread/turns/list': { data: [{ id: turn, status: 'inProgress', items: [] }] },
      'turn/steer': { turnId: turn },
      'thread/items/list': recorded,
      'thread/unsubscribe': { status: 'unsubscribed' },
    },
  },
]
