import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { asBridgeError } from '@codex-thread-bridge/core/contract'
import { inspectWorktree, type Git } from '@codex-thread-bridge/core/git'

/** A worktree of this family, as a person sees it. */
export interface ManagedWorktree {
  readonly path: string
  /** The call that made it. */
  readonly requestId: string | undefined
  readonly head: string | undefined
  readonly clean: boolean
  /** Whether a branch, tag or other name has its commit: it is not lost with the worktree. */
  readonly committed: boolean
  /** Why it cannot be told of, or only in part. */
  readonly fault: string | undefined
}

const REASON = /^codex-thread-bridge (.+)$/

const directories = async (path: string): Promise<readonly string[]> => {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name))
}

const isNamed = async (git: Git, cwd: string, head: string): Promise<boolean> => {
  const { stdout } = await git.run(['for-each-ref', '--count=1', '--contains', head], { cwd })
  return stdout.length > 0
}

const look = async (git: Git, path: string): Promise<ManagedWorktree> => {
  try {
    const { root, head, clean, lockReason } = await inspectWorktree(git, path)
    if (root !== path) throw new Error('it is no worktree')
    return {
      path,
      requestId: REASON.exec(lockReason ?? '')?.[1],
      head,
      clean,
      committed: head !== undefined && (await isNamed(git, path, head)),
      fault: undefined,
    }
  } catch (error) {
    const fault = asBridgeError(error).message
    return { path, requestId: undefined, head: undefined, clean: false, committed: false, fault }
  }
}

/** The worktrees below the state directory. Changes nothing. */
export const listWorktrees = async (git: Git, worktreesDir: string): Promise<readonly ManagedWorktree[]> => {
  const repositories = await directories(worktreesDir)
  const paths = (await Promise.all(repositories.map(directories))).flat().sort()
  return Promise.all(paths.map((path) => look(git, path)))
}

/** Whether nothing is lost with a worktree: no uncommitted work, and its commit has a name elsewhere. */
export const isExpendable = ({ clean, committed, fault }: ManagedWorktree): boolean =>
  clean && committed && fault === undefined

/** Takes a worktree away; Git refuses when something was changed in it meanwhile. @throws BridgeError git_failed */
export const removeWorktree = async (git: Git, { path }: ManagedWorktree): Promise<void> => {
  const { stdout } = await git.run(['rev-parse', '--path-format=absolute', '--git-common-dir'], { cwd: path })
  const cwd = stdout.toString('utf8').trim()
  await git.run(['worktree', 'unlock', path], { cwd, exitCodes: [0, 128], changes: true })
  await git.run(['worktree', 'remove', path], { cwd, changes: true })
}
