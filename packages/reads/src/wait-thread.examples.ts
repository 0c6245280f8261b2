import type { Example } from '@codex-thread-bridge/core/contract'

const threadId = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
const turnId = '01a22d6c-ee10-7d30-84f1-a4cd16c32862'
const threadThat = (status: object) => ({ thread: { id: threadId, cwd: '/home/ada/parser', status } })

/** A turn that has ended; one whose thread waits for an approval; one that has not shown up yet. */
export const examples: readonly Example[] = [
  {
    input: { thread_id: threadId, turn_id: turnId, timeout_seconds: 30 },
    answers: {
      'thread/read': threadThat({ type: 'idle' }),
      'thread/turns/list': {
        data: [{ id: turnId, status: 'completed', items: [], error: null, completedAt: 1_796_058_809 }],
      },
      'thread/items/list': {
        data: [
          { turnId, item: { type: 'agentMessage', id: 'item-2', text: 'Line 40 drops the last token.' } },
        ],
      },
    },
  },
  {
    input: { thread_id: threadId, turn_id: turnId },
    answers: {
      'thread/read': threadThat({ type: 'active', activeFlags: ['waitingOnApproval'] }),
      'thread/turns/list': { data: [{ id: turnId, status: 'inProgress', items: [] }] },
    },
  },
  {
    input: { thread_id: threadId, turn_id: turnId, timeout_seconds: 0 },
    answers: {
      'thread/read': threadThat({ type: 'idle' }),
      'thread/turns/list': { data: [] },
    },
  },
]
