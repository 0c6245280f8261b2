import type { Receipt } from '@codex-thread-bridge/core/ledger'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

export const HANDOFF = 'handoff_thread'

export const directions = ['local-to-worktree', 'worktree-to-local'] as const
export type Direction = (typeof directions)[number]

/**
 * How far a handoff is. Up to `forked` the source has the whole work and the thread; from `archived` on the destination
 * has both, whatever is still left in the source.
 */
export const stages = ['preparing', 'carried', 'forked', 'archived', 'cleaned', 'done', 'undone'] as const
export type Stage = (typeof stages)[number]

/** What a handoff keeps in its receipt: with it a later call finishes or undoes what was cut off. */
export const Journal = Type.Object({
  direction: Type.Enum([...directions], { type: 'string' }),
  stage: Type.Enum([...stages], { type: 'string' }),
  /** Roots of the two checkouts. */
  from: Type.String(),
  to: Type.String(),
  /** The commit of both. */
  revision: Type.String(),
  /** Where the thread works, from the root. */
  directory: Type.String(),
  /** The destination's commit before it was brought to `revision`. */
  previousRevision: Type.Optional(Type.String()),
})
export type Journal = Static<typeof Journal>

const journal = Compile(Journal)
const fork = Compile(Type.Object({ threadId: Type.String() }))

/** The journal of a handoff's receipt. */
export const journalOf = (receipt: Receipt): Journal | undefined =>
  journal.Check(receipt.handoff) ? receipt.handoff : undefined

/** The thread that a handoff has made in its destination. */
export const forkOf = (receipt: Receipt): string | undefined =>
  fork.Check(receipt.fork) ? receipt.fork.threadId : undefined

/** Whether nothing of a handoff is left to be done. */
export const isOver = (stage: Stage): boolean => stage === 'done' || stage === 'undone'

/** Whether the work is in the destination for good. */
export const hasMoved = (stage: Stage): boolean => ['archived', 'cleaned', 'done'].includes(stage)
