import type { WorktreeState } from './worktree-record.ts'

interface Places {
  readonly source_repository: string
  readonly destination: string
}

/** Where Git has the worktree on record. */
export interface Place {
  readonly path: string
  /** Something else stands there now. */
  readonly replaced: boolean
}

interface Known {
  readonly state: WorktreeState
  /** Default: at the destination, as it was made. */
  readonly place?: Place
  readonly threadId?: string
}

/** What of a receipt says whether, and how, a person has to clean up. */
export interface Recovery {
  readonly recoveryRequired: boolean
  readonly recovery: string | undefined
}

export const nothingToRecover: Recovery = { recoveryRequired: false, recovery: undefined }

/** A path as a POSIX shell takes it. */
const quoted = (path: string): string =>
  /^[\w./+@:-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`

/**
 * How to remove by hand what was made. A link that was put in the place of the worktree may lead to another one, which
 * Git would remove instead.
 */
const removal = (places: Places, state: WorktreeState, place: Place): string => {
  const source = quoted(places.source_repository)
  const destination = quoted(places.destination)
  const worktree = quoted(place.path)
  const unregister = `test -L ${worktree} || { git -C ${source} worktree unlock ${worktree}; git -C ${source} worktree remove --force ${worktree}; }`
  if (state === 'planned') return `Nothing is known to stand at ${destination}.`
  if (place.replaced)
    return `Something else stands at ${destination} now, and the directory that was made is somewhere else: neither is removed by these commands. Move aside what stands there. If Git has the worktree on record (git -C ${source} worktree list), take it off with: ${unregister}`
  if (state === 'reserved')
    return `A directory was made and not yet filled: if it is empty, remove it with: rmdir ${destination}. If Git has it on record (git -C ${source} worktree list), remove it with: ${unregister}`
  if (place.path !== places.destination)
    return `The worktree that was made is not at ${destination} any more; leave alone what stands there. Remove the worktree, with everything in it, with: ${unregister}`
  return `The worktree is locked and kept. Remove it, with everything in it, with: ${unregister}`
}

/** What a person can do with a launch that was not completed. */
export const recoveryOf = (
  places: Places,
  { state, threadId, place = { path: places.destination, replaced: false } }: Known,
): Recovery => {
  if (threadId !== undefined)
    return {
      recoveryRequired: true,
      recovery: `Thread ${threadId} was started there: if it still exists, send it a message with a request_id of its own, or archive it before you remove the worktree. ${removal(places, state, place)}`,
    }
  if (state === 'planned') return nothingToRecover
  return { recoveryRequired: true, recovery: removal(places, state, place) }
}
