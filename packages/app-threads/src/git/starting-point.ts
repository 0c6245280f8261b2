import { join, relative } from 'node:path'
import { BridgeError } from '@codex-thread-bridge/core/contract'
import { checkGitFiles, sourceCheckout, type Git, type SourceCheckout } from '@codex-thread-bridge/core/git'
import type { StartingState } from '../create-target.ts'
import { changesToCarry } from './carry.ts'

/** What a worktree is made from. */
export interface StartingPoint {
  readonly source: SourceCheckout
  /** A full commit id. */
  readonly revision: string
  /** A branch to be made there and checked out; detached otherwise. */
  readonly newBranch?: string
  /** Whether the source's uncommitted changes come along. */
  readonly carry: boolean
  /** Where the thread works, from the root of its checkout; empty: at the root. */
  readonly directory: string
}

/** How a tool names the directory that must be in a checkout, and what to do when it is in none. */
export interface Wanted {
  readonly field: string
  readonly hint: string
}

/** The checkout that a directory, by its real path, is in. @throws BridgeError invalid_source_repository */
export const checkoutAround = async (git: Git, path: string, wanted: Wanted): Promise<SourceCheckout> => {
  await checkGitFiles(path)
  const { stdout, exitCode } = await git.run(['rev-parse', '--show-toplevel'], {
    cwd: path,
    exitCodes: [0, 128],
  })
  if (exitCode !== 0)
    throw new BridgeError('invalid_source_repository', `${path} is in no Git checkout.`, wanted)
  return sourceCheckout(git, stdout.toString('utf8').replace(/\n$/, ''))
}

/** A repository without a commit has nothing to start from. */
export const noCommit = (root: string): BridgeError =>
  new BridgeError('unknown_revision', `The repository has no commit yet: ${root}`, {
    hint: 'Make a first commit there.',
  })

/** The commit that a full name stands for, if there is one. */
export const commitOf = async (git: Git, root: string, name: string): Promise<string | undefined> => {
  const { stdout, exitCode } = await git.run(
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`],
    { cwd: root, exitCodes: [0, 1, 128] },
  )
  return exitCode === 0 ? stdout.toString('utf8').trim() : undefined
}

/** The repository's default branch: what origin says, else main or master, else what is checked out. */
const defaultCommit = async (git: Git, root: string): Promise<string> => {
  const { stdout } = await git.run(['symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD'], {
    cwd: root,
    exitCodes: [0, 1],
  })
  const remote = stdout.toString('utf8').trim()
  const names = [
    ...(remote === '' ? [] : [remote.replace('refs/remotes/origin/', 'refs/heads/'), remote]),
    'refs/heads/main',
    'refs/heads/master',
    'HEAD',
  ]
  for (const name of names) {
    const commit = await commitOf(git, root, name)
    if (commit !== undefined) return commit
  }
  throw noCommit(root)
}

const BRANCH_NAMES =
  'A branch name has no blank, control character, "~", "^", ":", "?", "*", "[", "\\", ".." or "@{"; no part between slashes is empty, begins with "." or ends with ".lock"; the whole does not begin with "-", end with "." or be "HEAD" (git check-ref-format).'

/** Whether `git branch` would take the name. */
const isBranchName = async (git: Git, root: string, name: string): Promise<boolean> =>
  !name.startsWith('-') &&
  name !== 'HEAD' &&
  (await git.run(['check-ref-format', `refs/heads/${name}`], { cwd: root, exitCodes: [0, 1] })).exitCode === 0

const ofBranch = async (
  git: Git,
  root: string,
  { branchName = '', onMissing = 'error' }: StartingState,
): Promise<Pick<StartingPoint, 'revision' | 'newBranch'>> => {
  const field = 'target.environment.startingState.branchName'
  if (!(await isBranchName(git, root, branchName)))
    throw new BridgeError('unknown_revision', `${JSON.stringify(branchName)} is no name of a branch.`, {
      field,
      hint: BRANCH_NAMES,
    })
  const revision = await commitOf(git, root, `refs/heads/${branchName}`)
  if (revision !== undefined) return { revision }
  if (onMissing === 'create-branch')
    return { revision: await defaultCommit(git, root), newBranch: branchName }
  throw new BridgeError('unknown_revision', `There is no local branch ${JSON.stringify(branchName)}.`, {
    field,
    hint: 'Name a local branch, or set onMissing to "create-branch".',
  })
}

/**
 * What a worktree is made from, for a directory in the source. Reads only.
 * @throws BridgeError unknown_revision, uncarried_changes, git_*
 */
export const startingPoint = async (
  git: Git,
  source: SourceCheckout,
  cwd: string,
  state: StartingState | undefined,
): Promise<StartingPoint> => {
  const directory = relative(source.root, cwd)
  const common = { source, directory, carry: state?.type === 'working-tree' }
  if (state?.type === 'branch') return { ...common, ...(await ofBranch(git, source.root, state)) }
  if (state === undefined) return { ...common, revision: await defaultCommit(git, source.root) }
  const head = await commitOf(git, source.root, 'HEAD')
  if (head === undefined) throw noCommit(source.root)
  await changesToCarry(git, source.root)
  return { ...common, revision: head }
}

/** A directory in a checkout, by its path from another one's root. */
export const directoryIn = (root: string, directory: string): string =>
  directory === '' ? root : join(root, directory)
