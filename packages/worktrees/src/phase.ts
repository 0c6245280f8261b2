import type { MutationContext } from '@codex-thread-bridge/core/contract'
import type { ReceiptPatch } from '@codex-thread-bridge/core/ledger'
import type { Method } from '@codex-thread-bridge/core/protocol'

/** How far a launch is, in order (contract: create_worktree_thread, Phases). Each is durable before its work begins. */
export const phases = [
  'validating',
  'reserving_destination',
  'creating_worktree',
  'checking_out_worktree',
  'checking_worktree',
  'worktree_checked',
  'creating_thread',
  'checking_environment',
  'materializing_thread',
  'naming_thread',
  'thread_named',
  'checking_before_dispatch',
  'dispatching_initial_prompt',
  'initial_prompt_accepted',
  'complete',
] as const
export type Phase = (typeof phases)[number]

/** Durable when it resolves. @throws BridgeError ledger_* */
export const enter = (ctx: MutationContext<Method>, phase: Phase, patch: ReceiptPatch = {}): Promise<void> =>
  ctx.receipt.checkpoint({ phase, ...patch })
