import { checkReservation, type Reservation } from './destination.ts'
import { type Git, type Looking, looksIn } from './git.ts'
import { checkoutPaths, type SourceCheckout } from './source.ts'
import { fields, pathOf } from './text.ts'

/** A worktree as the repository has it on record. */
export interface RegisteredWorktree {
  readonly path: string
  /** Undefined while there is no commit yet, and for a bare repository. */
  readonly head: string | undefined
  /** The full name of the branch; undefined when HEAD is detached. */
  readonly branch: string | undefined
  readonly detached: boolean
  readonly locked: boolean
  readonly lockReason: string | undefined
  /** Why Git would prune it (its directory is gone, for one). */
  readonly prunable: string | undefined
}

/** A worktree as it stands. */
export interface InspectedWorktree {
  readonly root: string
  readonly head: string | undefined
  readonly gitDirectory: string
  readonly commonDirectory: string
  readonly detached: boolean
  readonly locked: boolean
  readonly lockReason: string | undefined
  readonly clean: boolean
  /** The first few changed or untracked paths, from the root; bytes that are no text are shown as U+FFFD. */
  readonly dirty: readonly string[]
}

const PATHS_SHOWN = 10

/** One record of `git worktree list --porcelain -z`: lines `name` or `name value`. */
const registeredFrom = (record: ReadonlyMap<string, Buffer>): RegisteredWorktree => {
  const text = (name: string): string | undefined => record.get(name)?.toString('utf8')
  const head = text('HEAD')
  const reason = text('locked')
  return {
    path: pathOf(record.get('worktree') ?? Buffer.alloc(0)),
    head: head === undefined || /^0+$/.test(head) ? undefined : head,
    branch: text('branch'),
    detached: record.has('detached'),
    locked: record.has('locked'),
    lockReason: reason === '' ? undefined : reason,
    prunable: text('prunable'),
  }
}

function* worktreeRecords(answer: Buffer): Generator<ReadonlyMap<string, Buffer>> {
  let record = new Map<string, Buffer>()
  for (const line of fields(answer)) {
    if (line.length === 0) {
      yield record
      record = new Map()
      continue
    }
    const space = line.indexOf(' ')
    const end = space === -1 ? line.length : space
    record.set(line.toString('latin1', 0, end), line.subarray(end + 1))
  }
}

type Records = readonly ReadonlyMap<string, Buffer>[]

/** What the repository around `cwd` has on record. */
const recordsOf = async (git: Git, cwd: string, looking: Looking): Promise<Records> => {
  const { stdout } = await git.run(['worktree', 'list', '--porcelain', '-z'], looksIn(cwd, looking))
  return [...worktreeRecords(stdout)]
}

/** The record of a worktree's path; undefined when there is none. */
const registeredAt = (records: Records, path: string): RegisteredWorktree | undefined => {
  const wanted = Buffer.from(path)
  const record = records.find((each) => each.get('worktree')?.equals(wanted) === true)
  return record && registeredFrom(record)
}

/** What the source repository has on record for a destination; also when the directory is gone. */
export const registeredWorktree = async (
  git: Git,
  source: Pick<SourceCheckout, 'root'>,
  destination: string,
  looking: Looking = {},
): Promise<RegisteredWorktree | undefined> =>
  registeredAt(await recordsOf(git, source.root, looking), destination)

/** The first few paths of `git status --porcelain -z` without renames: `XY path` each. */
const dirtyPaths = (answer: Buffer): readonly string[] =>
  [...fields(answer)].slice(0, PATHS_SHOWN).map((entry) => entry.toString('utf8', 3))

/**
 * What stands at a destination; changes nothing, also not the index.
 * @throws BridgeError git_failed when it is no worktree; unsupported_path
 */
export const inspectWorktree = async (
  git: Git,
  destination: string,
  looking: Looking = {},
): Promise<InspectedWorktree> => {
  const cwd = destination
  // A submodule's own status would be a Git command with its own settings in its own repository.
  const status = [
    'status',
    '--porcelain',
    '-z',
    '--untracked-files=normal',
    '--ignore-submodules=dirty',
    '--no-renames',
  ]
  const [paths, records, { stdout }] = await Promise.all([
    checkoutPaths(git, cwd, looking),
    recordsOf(git, cwd, looking),
    git.run(status, looksIn(cwd, looking)),
  ])
  const registered = registeredAt(records, paths.root)
  const dirty = dirtyPaths(stdout)
  return {
    ...paths,
    head: registered?.head,
    detached: registered?.detached ?? false,
    locked: registered?.locked ?? false,
    lockReason: registered?.lockReason,
    clean: dirty.length === 0,
    dirty,
  }
}

export interface NewWorktree {
  readonly source: Pick<SourceCheckout, 'root'>
  readonly destination: Reservation
  readonly revision: string
  /** Kept with the lock, shown by `git worktree list`. */
  readonly reason: string
}

/**
 * Registers the reserved directory as a locked worktree, detached at the revision, with no files yet.
 * @throws BridgeError git_failed, git_timeout, destination_changed (before or after: `next` tells)
 */
export const addWorktree = async (
  git: Git,
  { source, destination, revision, reason }: NewWorktree,
): Promise<void> => {
  await checkReservation(destination)
  await git.run(
    ['worktree', 'add', '--detach', '--lock', '--reason', reason, '--', destination.path, revision],
    { cwd: source.root, changes: true },
  )
  await checkReservation(destination)
}

/**
 * Writes the revision's files into a worktree that has none. Never over what stands there.
 * Patterns of a sparse source apply, since Git copies them to the new worktree. Submodules stay empty directories,
 * filtered files (LFS) stay as they are stored.
 * @throws BridgeError git_failed, git_timeout
 */
export const checkOut = async (
  git: Git,
  destination: Pick<Reservation, 'path'>,
  revision: string,
): Promise<void> => {
  await git.run(['read-tree', '-m', '-u', '--no-recurse-submodules', revision], {
    cwd: destination.path,
    // As many of Git's own workers as there are cores; below some hundred files Git uses none.
    settings: [['checkout.workers', '0']],
    changes: true,
  })
}
