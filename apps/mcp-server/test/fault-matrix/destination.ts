import { lstat, readdir } from 'node:fs/promises'
import { listing, poll, type Repository } from '@codex-thread-bridge/test-fixtures'

/** What can stand at a launch's destination: in words, and the `worktree.state` of a receipt that says so. */
export const destinations = {
  nothing: ['nothing', 'planned'],
  empty: ['empty directory', 'reserved'],
  registered: ['registered worktree without files', 'registered'],
  whole: ['whole worktree', 'created'],
  changed: ['worktree with other files, HEAD or lock', 'created', 'registered'],
  gone: ['no directory, still on record', 'created', 'registered'],
  theirs: ['what somebody else put there', 'planned', 'reserved'],
} as const
export type Destination = keyof typeof destinations

/** Plain Git gives up on a record that a launch beside this one is just writing. */
const recordOf = async ({ git }: Repository, path: string): Promise<string | undefined> => {
  const records = await poll(() => git(['worktree', 'list', '--porcelain']), {
    what: 'the records',
    every: 25,
  })
  return records.split('\n\n').find((record) => record.split('\n')[0] === `worktree ${path}`)
}

/** What stands at a destination, as Git and the file system say. */
export const standingAt = async (
  repository: Repository,
  path: string,
  requestId: string,
): Promise<Destination> => {
  const record = await recordOf(repository, path)
  const files = await readdir(path).catch(() => undefined)
  if (record === undefined) {
    const there = await lstat(path).catch(() => undefined)
    return there === undefined ? 'nothing' : files?.length === 0 ? 'empty' : 'theirs'
  }
  if (files === undefined) return 'gone'
  const lock = /^locked (.*)$/m.exec(record)?.[1]
  if (lock !== undefined && lock !== `codex-thread-bridge ${requestId}`) return 'theirs'
  const asMade = ['detached', 'locked', `HEAD ${repository.head}`].every((line) =>
    record.includes(`\n${line}`),
  )
  const status = await repository.git(['status', '--porcelain'], path)
  if (status === '' && asMade) return 'whole'
  return files.length === 1 ? 'registered' : 'changed'
}

/** The source, byte for byte: all but what Git keeps of its worktrees. */
export const sourceOf = async ({ root }: Repository): Promise<readonly string[]> =>
  (await listing(root)).filter((line) => !line.startsWith('.git/worktrees'))

/** The arguments of a launch, beside its id and texts. */
export const launchArgs = ({ root, head }: Repository, destination: string) => ({
  source_repository: root,
  starting_revision: head,
  destination,
  worktree_mode: 'bridge-managed-retained',
  sandbox: 'read-only',
  expected_sandbox_policy: { type: 'readOnly', networkAccess: false },
})
