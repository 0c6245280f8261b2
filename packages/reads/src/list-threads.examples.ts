import type { Example } from '@codex-thread-bridge/core/contract'

/** One thread, and more behind a cursor. */
export const examples: readonly Example[] = [
  {
    input: { limit: 1 },
    answers: {
      'thread/list': {
        data: [
          {
            id: '01a22d6c-ee00-7d30-84f1-a4cd16c32862',
            name: 'Review the parser',
            preview: 'Read src/parser.ts and list what is wrong with it.',
            cwd: '/home/ada/parser',
            status: { type: 'idle' },
            createdAt: 1_796_058_796,
          },
        ],
        nextCursor: '2026-11-30T18:00:00Z|01a22d6c-ee00-7d30-84f1-a4cd16c32862',
        backwardsCursor: '2026-11-30T18:00:01Z',
      },
    },
  },
]
