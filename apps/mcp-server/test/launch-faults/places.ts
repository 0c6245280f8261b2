import type { Receipt } from '@codex-thread-bridge/core/ledger'

/** Where in a launch Git, the file system or the bridge has a part. */
export interface Place {
  readonly words: string
  readonly phase: string
  /** The phase that is written once it is done. */
  readonly next: string
  /** As the journal has it; the checks are in no journal. */
  readonly step?: string
  /** The Git command by which it is known, and which of these it is; making a directory needs none. */
  readonly git?: { readonly command: string; readonly nth: number }
}

export const places = {
  validating: {
    words: 'the first looks at source, revision and destination',
    phase: 'validating',
    next: 'reserving_destination',
    git: { command: 'rev-parse', nth: 1 },
  },
  reserve: {
    words: '`git/reserve_destination`, a directory',
    phase: 'reserving_destination',
    next: 'creating_worktree',
    step: 'git/reserve_destination',
  },
  add: {
    words: '`git/worktree_add`, the locked worktree without files',
    phase: 'creating_worktree',
    next: 'checking_out_worktree',
    step: 'git/worktree_add',
    git: { command: 'worktree add', nth: 1 },
  },
  checkout: {
    words: '`git/checkout`, its files',
    phase: 'checking_out_worktree',
    next: 'checking_worktree',
    step: 'git/checkout',
    git: { command: 'read-tree', nth: 1 },
  },
  checking: {
    words: 'the look at the new worktree',
    phase: 'checking_worktree',
    next: 'worktree_checked',
    git: { command: 'status', nth: 1 },
  },
  dispatch: {
    words: 'the look before the prompt leaves',
    phase: 'checking_before_dispatch',
    next: 'dispatching_initial_prompt',
    git: { command: 'status', nth: 2 },
  },
} as const satisfies Record<string, Place>
export type PlaceName = keyof typeof places
export const placeNames = Object.keys(places) as PlaceName[]

/** Whether a receipt to be written is the begin of a place, or its outcome. */
export const writes = ({ phase, next, step }: Place, when: 'begin' | 'outcome') => {
  const state = when === 'begin' ? 'intended' : 'answered'
  return (receipt: Receipt): boolean =>
    step === undefined
      ? receipt.phase === (when === 'begin' ? phase : next)
      : receipt.steps.some((known) => known.name === step && known.state === state)
}
