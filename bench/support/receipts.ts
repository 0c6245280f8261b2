import { processOwner, type Receipt } from '@codex-thread-bridge/core/ledger'

const profile = { id: ':read-only', extends: null }

/** About what a creation's answer holds: two kilobytes of environment. */
const creation = {
  thread: {
    id: 'x'.repeat(36),
    cwd: '/home/someone/project',
    status: { type: 'idle' },
    preview: '-'.repeat(1_500),
  },
  cwd: '/home/someone/project',
  approvalPolicy: 'never',
  approvalsReviewer: 'user',
  sandbox: { type: 'readOnly', networkAccess: false },
  activePermissionProfile: profile,
}

const STEPS = [
  'thread/start',
  'thread/section/move',
  'thread/settings/update',
  'turn/start',
  'thread/unsubscribe',
]

/** A create_thread's receipt as it is claimed, while it runs, and when it is done. */
export const receiptLife = (
  requestId: string,
): { readonly claimed: Receipt; readonly running: Receipt; readonly done: Receipt } => {
  const now = Date.now() / 1_000
  const claimed: Receipt = {
    requestId,
    operation: 'create_thread',
    family: 'bridge',
    status: 'in_progress_or_unknown',
    startedAt: now,
    updatedAt: now,
    retrySafe: false,
    next: 'reconcile',
    fingerprintVersion: 3,
    deliveryMarker: `ctb1:${'0'.repeat(24)}`,
    owner: processOwner(),
    steps: [],
  }
  const running: Receipt = {
    ...claimed,
    threadId: `thread-${requestId}`,
    creation,
    steps: STEPS.slice(0, 2).map((name) => ({ name, state: 'answered', at: now })),
  }
  const done: Receipt = {
    ...running,
    turnId: `turn-${requestId}`,
    status: 'accepted',
    next: 'none',
    delivery: { state: 'recorded', as: 'turn' },
    steps: STEPS.map((name) => ({ name, state: 'answered', at: now })),
  }
  return { claimed, running, done }
}
