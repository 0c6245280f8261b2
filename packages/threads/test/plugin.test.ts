import { testPlugin } from '@codex-thread-bridge/core/testing'
import { createThreadsPlugin } from '@codex-thread-bridge/threads'
import { describe, it } from 'vitest'

describe('the threads plugin', () => {
  testPlugin(createThreadsPlugin(), it, {
    receipts: [
      {
        requestId: 'review-parser-1-made-before',
        operation: 'create_thread',
        status: 'accepted',
        startedAt: 1,
        updatedAt: 1,
        retrySafe: false,
        next: 'none',
        steps: [],
        threadId: '01a22d6c-ee00-7d30-84f1-a4cd16c32862',
        verifiedEnvironment: { matches: true, differences: [] },
        creation: {
          thread: {
            id: '01a22d6c-ee00-7d30-84f1-a4cd16c32862',
            cwd: '/',
            status: { type: 'idle' },
            projectId: 'project-1',
          },
          cwd: '/',
          model: 'gpt-5.5',
          approvalPolicy: 'never',
          approvalsReviewer: 'user',
          sandbox: { type: 'readOnly', networkAccess: false },
          activePermissionProfile: { id: ':read-only', extends: null },
          reasoningEffort: null,
        },
      },
    ],
  })
})
