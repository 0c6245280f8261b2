import type { Receipt } from '@codex-thread-bridge/core/ledger'

/** An accepted receipt with some members of its own choice. */
export const receipt = (members: Partial<Receipt> = {}): Receipt => ({
  requestId: 'request-1',
  operation: 'create_thread',
  family: 'bridge',
  status: 'accepted',
  startedAt: 1_796_058_796.25,
  updatedAt: 1_796_058_797.5,
  retrySafe: false,
  next: 'none',
  steps: [],
  ...members,
})
