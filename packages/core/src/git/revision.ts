import { BridgeError } from '../contract/errors.ts'
import { type Git, type Looking, looksIn } from './git.ts'
import type { SourceCheckout } from './source.ts'

const digits = { sha1: 40, sha256: 64 } as const

const promisorSetting = '^(remote\\..*\\.promisor|extensions\\.partialclone)$'

/** Whether a setting matches; a pattern, as Git prints keys. */
const isSet = async (git: Git, cwd: string, pattern: string, looking: Looking): Promise<boolean> => {
  const args = ['config', '-z', '--name-only', '--get-regexp', pattern]
  const { exitCode } = await git.run(args, { ...looksIn(cwd, looking), exitCodes: [0, 1] })
  return exitCode === 0
}

/** How many objects of the commit's tree a promisor remote still owes. rev-list with --missing never fetches. */
const owedObjects = async (git: Git, cwd: string, revision: string, looking: Looking): Promise<number> => {
  const args = ['rev-list', '--objects', '--no-walk', '--quiet', '--missing=print', revision, '--']
  const { stdout } = await git.run(args, looksIn(cwd, looking))
  return stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => line.startsWith('?')).length
}

/** What `git rev-list` makes of the id: itself for a commit that is here, a commit's id for a tag, else nothing. */
const commitOf = async (git: Git, cwd: string, revision: string, looking: Looking): Promise<string> => {
  const args = ['rev-list', '--no-walk', '--missing=allow-any', revision, '--']
  const options = { ...looksIn(cwd, looking), exitCodes: [0, 128] }
  return (await git.run(args, options)).stdout.toString('latin1').trim()
}

/**
 * Checks that a full commit id names a commit that is local with all its files: no ref, no tag, no replacement, and
 * nothing is fetched. In a sparse checkout of a partial clone only the commit is looked for: which files it needs is
 * known when they are written.
 * @returns the id
 * @throws BridgeError unknown_revision
 */
export const localCommit = async (
  git: Git,
  source: Pick<SourceCheckout, 'root' | 'objectFormat'>,
  revision: string,
  looking: Looking = {},
): Promise<string> => {
  const { root, objectFormat } = source
  const refuse = (what: string, more: Readonly<Record<string, unknown>> = {}): BridgeError =>
    new BridgeError('unknown_revision', `The revision ${what}: ${revision}`, {
      details: { revision, objectFormat, ...more },
    })
  const length = digits[objectFormat]
  if (!/^[0-9a-f]+$/.test(revision) || revision.length !== length) {
    throw refuse(`must be a full commit id, ${String(length)} lowercase hexadecimal digits (${objectFormat})`)
  }
  if ((await commitOf(git, root, revision, looking)) !== revision) {
    throw refuse('is not the id of a commit that this repository has locally')
  }
  const partial = await isSet(git, root, promisorSetting, looking)
  if (!partial || (await isSet(git, root, '^core\\.sparsecheckout$', looking))) return revision
  const owed = await owedObjects(git, root, revision, looking)
  if (owed > 0) throw refuse(`lacks objects that a promisor remote still owes (${String(owed)})`, { owed })
  return revision
}
