import { homedir } from 'node:os'
import { sep } from 'node:path'
import {
  isExpendable,
  listWorktrees,
  removeWorktree,
  worktreesDirOf,
  type ManagedWorktree,
} from '@codex-thread-bridge/app-threads'
import { asBridgeError } from '@codex-thread-bridge/core/contract'
import { createGit, type Git } from '@codex-thread-bridge/core/git'
import { defaultStateDir } from '@codex-thread-bridge/core/ledger'
import { allRows } from '@codex-thread-bridge/core/threads'
import { createAppServer } from '@codex-thread-bridge/core/transport'
import { jsonLog } from '../log.ts'
import type { BridgeOptions } from '../options.ts'
import { table } from '../table.ts'
import { version } from '../version.ts'
import { reportError, type Output } from './operations/output.ts'

const gitOf = ({ gitTimeoutSeconds }: BridgeOptions): Git =>
  createGit({ timeoutMs: gitTimeoutSeconds * 1_000 })

const worktreesOf = (options: BridgeOptions, git: Git): Promise<readonly ManagedWorktree[]> =>
  listWorktrees(git, worktreesDirOf(options.stateDir ?? defaultStateDir(process.env, homedir())))

const stateOf = ({ clean, committed, fault }: ManagedWorktree): string => {
  if (fault !== undefined) return fault
  if (!clean) return 'has uncommitted work'
  return committed ? 'clean' : 'has commits without a branch'
}

/** The worktrees that codex-app tools have made. Needs no App Server. */
export const showWorktrees = async (options: BridgeOptions, { json }: Output): Promise<number> => {
  const worktrees = await worktreesOf(options, gitOf(options))
  if (json) console.log(JSON.stringify(worktrees, null, 2))
  else
    console.log(
      table([
        ['PATH', 'STATE', 'HEAD', 'OPERATION'],
        ...worktrees.map((worktree) => [
          worktree.path,
          stateOf(worktree),
          worktree.head?.slice(0, 12) ?? '-',
          worktree.requestId ?? '-',
        ]),
      ]),
    )
  return 0
}

/** Threads of every origin. */
const sourceKinds = ['cli', 'vscode', 'exec', 'appServer', 'subAgent', 'unknown']

/** Where threads that are not archived work. @throws BridgeError when the App Server cannot be asked */
const placesOfThreads = async (options: BridgeOptions): Promise<readonly string[]> => {
  const appServer = createAppServer({
    socketPath: options.socket,
    version,
    log: jsonLog(options.logLevel),
  })
  try {
    const threads = await allRows((page) =>
      appServer.reads.call('thread/list', {
        ...page,
        useStateDbOnly: true,
        modelProviders: [],
        sourceKinds,
      }),
    )
    return threads.map(({ cwd }) => cwd)
  } finally {
    await appServer.close()
  }
}

/** Removes the worktrees with which nothing is lost and in which no thread works any more. */
export const pruneWorktrees = async (options: BridgeOptions, output: Output): Promise<number> => {
  const git = gitOf(options)
  try {
    const places = await placesOfThreads(options)
    const isUsed = ({ path }: ManagedWorktree): boolean =>
      places.some((cwd) => cwd === path || cwd.startsWith(path + sep))
    const removed: string[] = []
    const kept: { path: string; because: string }[] = []
    for (const worktree of await worktreesOf(options, git)) {
      const { path } = worktree
      if (isUsed(worktree)) kept.push({ path, because: 'a thread works in it' })
      else if (!isExpendable(worktree)) kept.push({ path, because: stateOf(worktree) })
      else
        await removeWorktree(git, worktree).then(
          () => removed.push(path),
          (error: unknown) => kept.push({ path, because: asBridgeError(error).message }),
        )
    }
    if (output.json) console.log(JSON.stringify({ removed, kept }, null, 2))
    else
      console.log(
        table([
          ['PATH', 'RESULT'],
          ...removed.map((path) => [path, 'removed']),
          ...kept.map(({ path, because }) => [path, `kept: ${because}`]),
        ]),
      )
    return 0
  } catch (error) {
    return reportError(asBridgeError(error), output)
  }
}
