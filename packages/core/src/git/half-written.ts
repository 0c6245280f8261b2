import { setTimeout as sleep } from 'node:timers/promises'
import { BridgeError } from '../contract/errors.ts'

const TRIES = 40
const PAUSE_MS = 25

/**
 * Whether Git met the record of a worktree that another `git worktree add` was just writing: the file is there and still
 * empty, and every command that reads all records gives up (measured with ten launches at once).
 */
export const metHalfWritten = (error: unknown): boolean =>
  BridgeError.is(error) && error.code === 'git_failed' && /failed to read .*\/commondir: /.test(error.message)

/** Repeats what had no effect, for a second at most. */
export const whileHalfWritten = async <T>(act: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act()
    } catch (error) {
      if (!metHalfWritten(error) || tries === TRIES) throw error
      await sleep(PAUSE_MS)
    }
  }
}
