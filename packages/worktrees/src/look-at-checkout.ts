import { BridgeError } from '@codex-thread-bridge/core/contract'
import {
  inspectWorktree,
  lockedWorktree,
  lockReason,
  registeredWorktree,
  type Git,
  type InspectedWorktree,
} from '@codex-thread-bridge/core/git'
import { lstat } from 'node:fs/promises'
import type { Place } from './recovery.ts'
import type { WorktreeRecord } from './worktree-record.ts'

/** What Git and the file system say of a destination now: as the receipt keeps it, and as evidence. */
export interface Found {
  readonly worktree: WorktreeRecord
  readonly place: Place
  readonly evidence: Readonly<Record<string, unknown>>
}

interface Looking {
  readonly signal?: AbortSignal
}

const isDirectory = (path: string): Promise<boolean> =>
  lstat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )

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

/** The worktree that a launch made, wherever the source has it on record; a lock's reason names the launch. */
const lookElsewhere = async (
  git: Git,
  known: WorktreeRecord,
  requestId: string,
  looking: Looking,
): Promise<Found> => {
  const { sourceRepository: root, checkout } = known
  const moved = await lockedWorktree(git, { root }, lockReason(requestId), looking)
  const there = await exists(checkout)
  if (moved !== undefined)
    return {
      worktree: { ...known, state: 'registered' },
      place: { path: moved.path, replaced: false },
      evidence: {
        destination: there ? 'something else than the worktree that was made' : 'absent',
        onRecordElsewhere: { ...moved },
      },
    }
  const destination = there ? 'something that the source repository has not on record' : 'absent'
  return {
    worktree: { ...known, state: there ? 'reserved' : 'planned' },
    place: { path: checkout, replaced: there && !(await isDirectory(checkout)) },
    evidence: { destination },
  }
}

const look = async (git: Git, known: WorktreeRecord, requestId: string, looking: Looking): Promise<Found> => {
  const { sourceRepository, checkout } = known
  const registered = await registeredWorktree(git, { root: sourceRepository }, checkout, looking)
  if (registered === undefined) return lookElsewhere(git, known, requestId, looking)
  const found = (replaced: boolean, destination: string, what: object): Found => ({
    worktree: { ...known, state: 'registered' },
    place: { path: checkout, replaced },
    evidence: { destination, ...what },
  })
  if (!(await exists(checkout))) return found(false, 'absent, and still on record', registered)
  const replaced = 'something else than the worktree that was made, which is still on record'
  // What stands there is not asked: it may be another repository.
  if (!(await isDirectory(checkout))) return found(true, replaced, registered)
  const worktree = await inspectWorktree(git, checkout, looking)
  if (
    worktree.root !== checkout ||
    (known.gitCommonDirectory ?? worktree.commonDirectory) !== worktree.commonDirectory
  )
    return found(true, replaced, worktree)
  return {
    ...found(false, 'a worktree of the source repository', worktree),
    worktree: asMade(known, worktree),
  }
}

/** Changes nothing. Where Git cannot tell, what is known stays. */
export const lookAtCheckout = async (
  git: Git,
  known: WorktreeRecord,
  requestId: string,
  looking: Looking = {},
): Promise<Found> => {
  try {
    return await look(git, known, requestId, looking)
  } catch (error) {
    if (!BridgeError.is(error)) throw error
    return {
      worktree: known,
      place: { path: known.checkout, replaced: false },
      evidence: { destination: `cannot be looked at: ${error.message}` },
    }
  }
}
