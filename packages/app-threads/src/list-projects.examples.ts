import type { Example } from '@codex-thread-bridge/core/contract'

/** One project of the App Server; none. */
export const examples: readonly Example[] = [
  {
    input: {},
    answers: {
      'project/list': {
        data: [{ id: 'project-1', name: 'Parser', roots: [{ path: '/' }] }],
        nextCursor: null,
      },
    },
  },
  { input: {}, answers: { 'project/list': { data: [] } } },
]
