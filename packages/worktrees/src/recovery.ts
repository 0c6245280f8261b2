import type { WorktreeState } from './worktree-record.ts'

interface Places {
  readonly source_repository: string
  readonly destination: string
}

interface Known {
  readonly state: WorktreeState
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

/** How to remove by hand what was made. */
const removal = ({ source_repository, destination }: Places, state: WorktreeState): string => {
  const [source, worktree] = [quoted(source_repository), quoted(destination)]
  const unregister = `git -C ${source} worktree unlock ${worktree}; git -C ${source} worktree remove --force ${worktree}`
  if (state === 'planned') return `Nothing is known to stand at ${worktree}.`
  if (state === 'reserved')
    return `A directory was made and not yet filled: if it is empty, remove it with: rmdir ${worktree}. If Git has it on record (git -C ${source} worktree list), remove it with: ${unregister}`
  return `The worktree is locked and kept. Remove it, with everything in it, with: ${unregister}`
}

/** What a person can do with a launch that was not completed. */
export const recoveryOf = (places: Places, { state, threadId }: Known): Recovery => {
  if (threadId !== undefined)
    return {
      recoveryRequired: true,
      recovery: `Thread ${threadId} was started there: if it still exists, send it a message with a request_id of its own, or archive it before you remove the worktree. ${removal(places, state)}`,
    }
  if (state === 'planned') return nothingToRecover
  return { recoveryRequired: true, recovery: removal(places, state) }
}
