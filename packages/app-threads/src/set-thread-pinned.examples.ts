import type { Example } from '@codex-thread-bridge/core/contract'

const id = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'

/** A thread is pinned. */
export const examples: readonly Example[] = [
  {
    input: { threadId: id, pinned: true },
    answers: {
      'thread/read': { thread: { id, cwd: '/work/parser', status: { type: 'idle' }, section: null } },
      'threadSection/list': { data: [{ id: 'pinned', name: 'Pinned' }], nextCursor: null },
      'thread/section/move': {},
    },
  },
]
