import type { Example } from '@codex-thread-bridge/core/contract'

/** A thread gets a title. */
export const examples: readonly Example[] = [
  {
    input: { threadId: '01a22d6c-ee00-7d30-84f1-a4cd16c32862', title: 'Review the parser' },
    answers: { 'thread/name/set': {} },
  },
]
