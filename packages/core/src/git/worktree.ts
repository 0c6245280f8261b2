import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BridgeError } from '../contract/errors.ts'
import { given } from '../contract/given.ts'
import { destinationChanged, type Reservation } from './destination.ts'
import { type Git, type Looking, looksIn } from './git.ts'
import { metHalfWritten, whileHalfWritten } from './half-written.ts'
import { inReserved } from './pinned.ts'
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

/** The reason of the lock by which the worktree of a request is known. */
export const lockReason = (requestId: string): string => `codex-thread-bridge ${requestId}`

/** What the source repository has on record under the reason of a lock, wherever it is. */
export const lockedWorktree = async (
  git: Git,
  source: Pick<SourceCheckout, 'root'>,
  reason: string,
  looking: Looking = {},
): Promise<RegisteredWorktree | undefined> => {
  const records = await recordsOf(git, source.root, looking)
  const record = records.find((each) => each.get('locked')?.toString('utf8') === reason)
  return record && registeredFrom(record)
}

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
 * Registers the reserved directory as a locked worktree, detached at the revision, with no files yet. Where the system
 * has a way through an open directory, Git names the record after it: `3`, `31` and so on.
 * @throws BridgeError git_failed, git_timeout, destination_changed (before or after: `next` tells)
 */
export const addWorktree = async (
  git: Git,
  { source, destination, revision, reason }: NewWorktree,
): Promise<void> => {
  const add = (): Promise<unknown> =>
    inReserved(destination, ({ path, descriptor }) =>
      git.run(['worktree', 'add', '--detach', '--lock', '--reason', reason, '--', path, revision], {
        cwd: source.root,
        changes: true,
        ...given({ descriptor }),
      }),
    )
  await whileHalfWritten(async () => {
    try {
      await add()
    } catch (error) {
      // Git reads the records before it makes anything; what made something is not repeated.
      if (metHalfWritten(error) && (await registeredWorktree(git, source, destination.path)) !== undefined)
        throw new BridgeError('git_failed', 'git worktree add failed after it had registered the worktree', {
          cause: error,
        })
      throw error
    }
  })
}

/** What the source keeps of the worktree at a path. The path itself is not asked: something else may stand there. */
const gitDirectoryOf = async (commonDirectory: string, destination: Reservation): Promise<string> => {
  const records = join(commonDirectory, 'worktrees')
  const wanted = join(destination.path, '.git')
  const names = await readdir(records).catch((error: NodeJS.ErrnoException) => {
    const message = `The source's worktrees cannot be read (${String(error.code)}): ${records}`
    throw new BridgeError('git_failed', message, { next: 'inspect' })
  })
  for (const name of names) {
    const place = await readFile(join(records, name, 'gitdir'), 'utf8').catch(() => '')
    if (place.trimEnd() === wanted) return join(records, name)
  }
  throw destinationChanged(destination)
}

export interface EmptyWorktree {
  readonly source: Pick<SourceCheckout, 'commonDirectory'>
  readonly destination: Reservation
  readonly revision: string
}

/**
 * Writes the revision's files into a worktree that has none. Never over what stands there.
 * Patterns of a sparse source apply, since Git copies them to the new worktree. Submodules stay empty directories,
 * filtered files (LFS) stay as they are stored.
 * @throws BridgeError git_failed, git_timeout, destination_changed (before or after: `next` tells)
 */
export const checkOut = async (git: Git, { source, destination, revision }: EmptyWorktree): Promise<void> => {
  const gitDirectory = await gitDirectoryOf(source.commonDirectory, destination)
  await inReserved(destination, ({ path, descriptor }) =>
    git.run(['read-tree', '-m', '-u', '--no-recurse-submodules', revision], {
      cwd: path,
      gitDirectory,
      // As many of Git's own workers as there are cores; below some hundred files Git uses none.
      settings: [['checkout.workers', '0']],
      changes: true,
      ...given({ descriptor }),
    }),
  )
}
