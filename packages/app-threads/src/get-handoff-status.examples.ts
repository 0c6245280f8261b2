import type { Example } from '@codex-thread-bridge/core/contract'

/** How far a handoff is. */
export const examples: readonly Example[] = [{ input: { operationId: 'call-1', waitMs: 0 }, answers: {} }]
