import type { Example } from '@codex-thread-bridge/core/contract'

const id = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
const thread = (path: string) => ({ id, cwd: '/work/parser', status: { type: 'idle' }, path })

/** A thread is archived; another is brought back. */
export const examples: readonly Example[] = [
  {
    input: { threadId: id, archived: true },
    answers: {
      'thread/read': { thread: thread('/home/.codex/sessions/rollout.jsonl') },
      'thread/list': { data: [], nextCursor: null },
      'thread/archive': {},
    },
  },
  {
    input: { threadId: id, archived: false },
    answers: {
      'thread/read': { thread: thread('/home/.codex/archived_sessions/rollout.jsonl') },
      'thread/unarchive': { thread: thread('/home/.codex/sessions/rollout.jsonl') },
    },
  },
]
