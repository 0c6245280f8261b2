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

const STATUSES: readonly [share: number, status: Receipt['status']][] = [
  [0.005, 'outcome_unknown'],
  [0.02, 'failed'],
  [1, 'accepted'],
]
const RECEIPTS_PER_THREAD = 20
const STARTED_AT = 1_780_000_000
/** One in so many is a creation, the others are messages. */
const CREATION_EVERY = 10
const MESSAGE_STEPS = ['thread/resume', 'turn/start', 'thread/unsubscribe']

/** A receipt of long ago, one a minute; of mixed statuses, most of them messages. */
export const oldReceipt = (requestId: string, place: number): Receipt => {
  const { done } = receiptLife(requestId)
  const startedAt = STARTED_AT + place * 60
  const share = ((place * 7_919) % 1_000) / 1_000
  const status = STATUSES.find(([below]) => share < below)?.[1] ?? 'accepted'
  const life = {
    status,
    startedAt,
    updatedAt: startedAt + 2,
    threadId: `thread-${String(Math.floor(place / RECEIPTS_PER_THREAD))}`,
  }
  if (place % CREATION_EVERY === 0) return { ...done, ...life }
  const { creation: _creation, ...message } = done
  const steps = MESSAGE_STEPS.map((name) => ({ name, state: 'answered' as const, at: startedAt }))
  return { ...message, ...life, operation: 'send_message_to_thread', steps }
}
