import { BridgeError } from '@codex-thread-bridge/core/contract'
import {
  inspectWorktree,
  registeredWorktree,
  type Git,
  type InspectedWorktree,
} from '@codex-thread-bridge/core/git'
import { lstat } from 'node:fs/promises'
import type { WorktreeRecord } from './worktree-record.ts'

/** What Git and the file system say of a destination now: as the receipt keeps it, and as evidence. */
export interface Found {
  readonly worktree: WorktreeRecord
  readonly evidence: Readonly<Record<string, unknown>>
}

interface Looking {
  readonly signal?: AbortSignal
}

export const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/** A worktree that was made stays one, whatever is done in it; what it was at first is kept. */
const asMade = (known: WorktreeRecord, found: InspectedWorktree): WorktreeRecord => {
  const whole = found.clean && found.head === known.requestedRevision && found.root === known.checkout
  const state = known.state === 'created' || whole ? 'created' : 'registered'
  if (known.initialRevision !== undefined) return { ...known, state }
  return {
    ...known,
    state,
    detached: found.detached,
    clean: found.clean,
    gitCommonDirectory: found.commonDirectory,
    ...(found.head === undefined ? {} : { initialRevision: found.head }),
  }
}

const look = async (git: Git, known: WorktreeRecord, looking: Looking): Promise<Found> => {
  const { sourceRepository, checkout } = known
  const registered = await registeredWorktree(git, { root: sourceRepository }, checkout, looking)
  const there = await exists(checkout)
  if (registered === undefined)
    return there
      ? {
          worktree: { ...known, state: 'reserved' },
          evidence: { destination: 'something that the source repository has not on record' },
        }
      : { worktree: { ...known, state: 'planned' }, evidence: { destination: 'absent' } }
  if (!there)
    return {
      worktree: { ...known, state: 'registered' },
      evidence: { destination: 'absent, and still on record', ...registered },
    }
  const found = await inspectWorktree(git, checkout, looking)
  return {
    worktree: asMade(known, found),
    evidence: { destination: 'a worktree of the source repository', ...found },
  }
}

/** Changes nothing. Where Git cannot tell, what is known stays. */
export const lookAtCheckout = async (
  git: Git,
  known: WorktreeRecord,
  looking: Looking = {},
): Promise<Found> => {
  try {
    return await look(git, known, looking)
  } catch (error) {
    if (!BridgeError.is(error)) throw error
    return { worktree: known, evidence: { destination: `cannot be looked at: ${error.message}` } }
  }
}
