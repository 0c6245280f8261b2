import type { Example } from '@codex-thread-bridge/core/contract'

const id = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
const turn = '01a22d6c-ee10-7d30-84f1-a4cd16c32862'

/** A thread whose turn is over. */
export const examples: readonly Example[] = [
  {
    input: { targets: [{ threadId: id }] },
    answers: {
      'thread/read': { thread: { id, cwd: '/work/parser', status: { type: 'idle' } } },
      'thread/turns/list': {
        data: [
          { id: turn, status: 'completed', items: [], startedAt: 1_796_058_790, completedAt: 1_796_058_799 },
        ],
      },
      'thread/items/list': {
        data: [{ turnId: turn, item: { type: 'agentMessage', id: 'item-3', text: 'There are 7 files.' } }],
      },
    },
  },
]
