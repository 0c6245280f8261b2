import type { Next } from '@codex-thread-bridge/core/contract'

/** What a caller is told: a receipt, or (`error`) a call that ended without one. */
export interface Told {
  readonly status: 'accepted' | 'failed' | 'outcome_unknown' | 'in_progress_or_unknown' | 'error'
  readonly next: Next
  readonly code: string | null
  readonly ids: readonly ('threadId' | 'turnId')[]
}

/** How one fault at one step ends. */
export interface Cell {
  /** The answer; after a cancellation or the death of the bridge, what `get_operation` reads next. */
  readonly told: Told
  /** Of reconciliation, with bridge and App Server running again; null: there is nothing to find out. */
  readonly verdict: string | null
  /** The receipt then; without one, what the repeated call gives. */
  readonly after: Told
  /** Threads with our marker. */
  readonly threads: number
  /** Messages with our text. */
  readonly messages: number
}
