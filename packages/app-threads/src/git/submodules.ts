import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { BridgeError } from '@codex-thread-bridge/core/contract'
import { checkGitFiles, nulFields, type Git } from '@codex-thread-bridge/core/git'

export const SUBMODULE = '160000'

const refuse = (path: string, why: string): BridgeError =>
  new BridgeError('uncarried_changes', `${path} is a submodule ${why}, which cannot be carried.`, {
    details: { path },
  })

/** The submodules in the index of a checkout, from its root: `mode id stage`, a tab and the path each. */
const submodulesOf = async (git: Git, root: string): Promise<readonly Buffer[]> => {
  const { stdout } = await git.run(['ls-files', '-s', '-z'], { cwd: root })
  return [...nulFields(stdout)]
    .filter((entry) => entry.toString('latin1', 0, SUBMODULE.length) === SUBMODULE)
    .map((entry) => entry.subarray(entry.indexOf('\t') + 1))
}

/** Without a `.git` of its own, Git would look at the checkout around it. */
const isPopulated = (directory: string): Promise<boolean> =>
  lstat(join(directory, '.git')).then(
    () => true,
    () => false,
  )

/**
 * Looks into the submodules of a checkout, and into theirs, one by one: a look from outside would be a Git command with
 * the submodule's own settings. That one is at another commit than the checkout has on record is told by the checkout.
 * @throws BridgeError uncarried_changes that names the first one with changed or untracked files; git_*
 */
export const refuseChangedSubmodules = async (git: Git, root: string, above = ''): Promise<void> => {
  for (const bytes of await submodulesOf(git, root)) {
    const name = bytes.toString('utf8')
    const path = join(above, name)
    if (!Buffer.from(name).equals(bytes)) throw refuse(path, 'with a name that is no text')
    const directory = join(root, name)
    if (!(await isPopulated(directory))) continue
    await checkGitFiles(directory)
    const status = ['status', '--porcelain', '-z', '--untracked-files=normal', '--no-renames']
    const { stdout } = await git.run(status, { cwd: directory })
    if (stdout.length > 0) throw refuse(path, 'with changes')
    await refuseChangedSubmodules(git, directory, path)
  }
}
