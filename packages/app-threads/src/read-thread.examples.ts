import type { Example } from '@codex-thread-bridge/core/contract'

const id = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'

/** A thread with one finished turn. */
export const examples: readonly Example[] = [
  {
    input: { threadId: id, includeOutputs: true },
    answers: {
      'thread/read': {
        thread: {
          id,
          cwd: '/work/parser',
          status: { type: 'idle' },
          preview: 'Count the files.',
          name: 'Counting',
        },
      },
      'thread/turns/list': {
        data: [
          {
            id: '01a22d6c-ee10-7d30-84f1-a4cd16c32862',
            status: 'completed',
            startedAt: 1_796_058_790,
            completedAt: 1_796_058_799,
            items: [
              { type: 'userMessage', id: 'item-1', content: [{ type: 'text', text: 'Count the files.' }] },
              {
                type: 'commandExecution',
                id: 'item-2',
                command: 'ls | wc -l',
                cwd: '/work/parser',
                status: 'completed',
                exitCode: 0,
                aggregatedOutput: '7\n',
              },
              { type: 'agentMessage', id: 'item-3', text: 'There are 7 files.' },
            ],
          },
        ],
        nextCursor: null,
      },
    },
  },
]
