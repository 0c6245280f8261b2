import { BridgeError } from '@codex-thread-bridge/core/contract'
import { nulFields, type Git } from '@codex-thread-bridge/core/git'
import { SUBMODULE } from './submodules.ts'

/** What the index has at a path; mode 000000: nothing. */
export interface IndexEntry {
  readonly mode: string
  readonly id: string
  readonly path: Buffer
}

/** One entry of the index that differs from HEAD. */
export interface StagedEntry extends IndexEntry {
  /** What HEAD has in its place. */
  readonly headMode: string
  readonly headId: string
}

/** The uncommitted changes of a checkout. Paths are bytes, from its root. */
export interface Changes {
  readonly staged: readonly StagedEntry[]
  /** Tracked files that may differ from the index, with what it has of them; some may be the same after all. */
  readonly unstaged: readonly IndexEntry[]
  /** Those of them that are announced to the index without content. */
  readonly announced: readonly Buffer[]
  /** Those of them that are announced, but are no more. */
  readonly vanished: readonly Buffer[]
  readonly untracked: readonly Buffer[]
}

interface RawEntry {
  readonly oldMode: string
  readonly oldId: string
  readonly mode: string
  readonly id: string
  readonly status: string
  readonly path: Buffer
}

const UNMERGED = 'U'
const ADDED = 'A'
const DELETED = 'D'

const refuse = (path: Buffer, why: string): BridgeError =>
  new BridgeError('uncarried_changes', `${path.toString('utf8')} ${why}.`, {
    details: { path: path.toString('utf8') },
  })

/** `:oldMode mode oldId id status` and a path, each ended by NUL. */
function* rawEntries(answer: Buffer): Generator<RawEntry> {
  let head: readonly string[] | undefined
  for (const field of nulFields(answer)) {
    if (head === undefined) {
      head = field.toString('latin1').slice(1).split(' ')
      continue
    }
    const [oldMode = '', mode = '', oldId = '', id = '', status = ''] = head
    head = undefined
    yield { oldMode, mode, oldId, id, status, path: field }
  }
}

const RAW = ['--raw', '-z', '--no-renames', '--no-abbrev', '--ignore-submodules=dirty']

/** A path's bytes as a key: it need not be text. */
export const key = (path: Buffer): string => path.toString('latin1')

/** The entries whose path is, or is not, among others. */
const among = (entries: readonly RawEntry[], others: readonly RawEntry[], wanted: boolean): RawEntry[] => {
  const known = new Set(others.map(({ path }) => key(path)))
  return entries.filter(({ path }) => known.has(key(path)) === wanted)
}

/**
 * The uncommitted changes of the checkout at `root`, ignored files left out. Changes nothing, also not its index.
 * @throws BridgeError uncarried_changes for what cannot be carried: conflicts, submodules, repositories of their own
 */
export const changesOf = async (git: Git, root: string): Promise<Changes> => {
  const run = async (...args: readonly string[]): Promise<Buffer> =>
    (await git.run(args, { cwd: root })).stdout
  const inIndex = async (announced: 'visible' | 'invisible'): Promise<readonly RawEntry[]> => [
    ...rawEntries(await run('diff-index', '--cached', `--ita-${announced}-in-index`, ...RAW, 'HEAD', '--')),
  ]
  const staged = await inIndex('invisible')
  const unstaged = [...rawEntries(await run('diff-files', ...RAW))]
  const untracked = [...nulFields(await run('ls-files', '-z', '--others', '--exclude-standard'))]
  for (const { status, oldMode, mode, path } of [...staged, ...unstaged]) {
    if (status.startsWith(UNMERGED)) throw refuse(path, 'has a conflict that is not resolved')
    if (oldMode === SUBMODULE || mode === SUBMODULE)
      throw refuse(path, 'is a submodule with changes, which cannot be carried')
  }
  const nested = untracked.find((path) => path.at(-1) === 0x2f)
  if (nested !== undefined) throw refuse(nested, 'is a repository of its own, which cannot be carried')
  // Git tells an announced file that is gone like any other deleted one.
  const deleted = unstaged.filter(({ status }) => status === DELETED)
  const visible = deleted.length === 0 ? [] : await inIndex('visible')
  const vanished = among(deleted, among(visible, staged, false), true)
  return {
    staged: staged.map(({ mode, id, oldMode, oldId, path }) => ({
      mode,
      id,
      headMode: oldMode,
      headId: oldId,
      path,
    })),
    unstaged: unstaged.map(({ oldMode, oldId, path }) => ({ mode: oldMode, id: oldId, path })),
    announced: unstaged.filter(({ status }) => status === ADDED).map(({ path }) => path),
    vanished: vanished.map(({ path }) => path),
    untracked,
  }
}

/** Every path whose file may differ from HEAD's, once each. */
export const pathsOf = ({ staged, unstaged, untracked }: Changes): readonly Buffer[] => [
  ...new Map(
    [...[...staged, ...unstaged].map(({ path }) => path), ...untracked].map((path) => [key(path), path]),
  ).values(),
]

export const isClean = (changes: Changes): boolean => pathsOf(changes).length === 0

const line = ({ mode, id, path }: StagedEntry): string => `${mode} ${id} ${path.toString('latin1')}`

/** Whether two checkouts of one commit have the same in their index. */
export const sameIndex = (one: Changes, other: Changes): boolean =>
  one.staged.map(line).sort().join('\n') === other.staged.map(line).sort().join('\n')
