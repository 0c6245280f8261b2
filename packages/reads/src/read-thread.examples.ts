import type { Example } from '@codex-thread-bridge/core/contract'

const id = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
const thread = {
  id,
  name: 'Review the parser',
  preview: 'Read src/parser.ts and list what is wrong with it.',
  cwd: '/home/ada/parser',
  status: { type: 'idle' },
}

/** The newest turn of a thread; a thread that has had none. */
export const examples: readonly Example[] = [
  {
    input: { thread_id: id, limit: 1 },
    answers: {
      'thread/read': { thread },
      'thread/turns/list': {
        data: [
          {
            id: '01a22d6c-ee10-7d30-84f1-a4cd16c32862',
            status: 'completed',
            error: null,
            startedAt: 1_796_058_797,
            completedAt: 1_796_058_809,
            items: [
              { type: 'userMessage', id: 'item-1', content: [{ type: 'text', text: thread.preview }] },
              { type: 'agentMessage', id: 'item-2', text: 'Line 40 drops the last token.' },
            ],
          },
        ],
        nextCursor: '{"scope":{"kind":"turns"},"rolloutOrdinal":32}',
      },
    },
  },
  {
    input: { thread_id: id },
    answers: {
      'thread/read': { thread: { ...thread, preview: '' } },
      'thread/turns/list': {
        error: { code: 'thread_not_materialized', message: 'not materialized before the first user message' },
      },
    },
  },
]
