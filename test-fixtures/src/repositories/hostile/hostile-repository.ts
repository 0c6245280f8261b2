import { plainGit } from '../plain-git.ts'
import { createRepository, type Repository } from '../repository.ts'
import { filteredFiles, layFilters } from './filters.ts'
import { type HooksPlace, layConfiguredHooks, layHooks, layTemplate } from './hooks.ts'
import { drivenFiles, layDrivers, layTools, layTrace } from './programs.ts'
import { layAlternate, layElsewhere, layPromisor, layRemotes } from './remotes.ts'
import { buildStage, type Spring } from './stage.ts'
import { laySubmodule, plantSubmodule } from './submodule.ts'

export interface HostileRepository extends Omit<Repository, 'commit' | 'git'> {
  /** A commit whose file a promisor remote still owes. */
  readonly owed: string
  /** A commit that is here only through another repository's objects. */
  readonly lent: string
  /** Commands that set every trap off, in their order. */
  readonly springs: readonly Spring[]
  /** The traps that these commands set off in plain Git, sorted. */
  readonly traps: readonly string[]
  /** The traps that ran, sorted. */
  marks(): Promise<readonly string[]>
}

/** A commit object as if it were signed, at the branch `signed`. */
const signedCopy = async (repository: Repository): Promise<void> => {
  const { root, home } = repository
  const plain = await repository.git(['cat-file', 'commit', 'main'])
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n'
  const input = `${plain.replace('\n\n', `\n${signature}\n`)}\n`
  const id = await plainGit(['hash-object', '-t', 'commit', '-w', '--stdin'], { cwd: root, home, input })
  await repository.git(['update-ref', 'refs/heads/signed', id])
}

/** What must be a setting before Git would follow any trap. */
const layFormat = async (repository: Repository): Promise<void> => {
  await repository.git(['config', 'core.repositoryFormatVersion', '1'])
  await repository.git(['config', 'extensions.worktreeConfig', 'true'])
  await repository.git(['config', 'extensions.partialClone', 'promisor'])
}

/**
 * A repository, and a user's home, in which all that can name a program for Git names one that leaves a mark. `head` is
 * the commit of `main`.
 */
export async function createHostileRepository(hooks: HooksPlace): Promise<HostileRepository> {
  const repository = await createRepository({ files: [...filteredFiles, ...drivenFiles(1)] })
  const version = (await repository.git(['version'])).replace('git version ', '')
  const head = await repository.commit([...drivenFiles(2), ...(await plantSubmodule(repository))])
  await repository.commit(drivenFiles(3), { branch: 'side', parent: repository.head })
  await signedCopy(repository)

  const stage = await buildStage(repository)
  await layElsewhere(stage)
  const lent = await layAlternate(stage)
  const owed = await layPromisor(stage, head)
  await layFormat(repository)
  await laySubmodule(stage)
  await layFilters(stage)
  await layDrivers(stage)
  await layTools(stage)
  await layRemotes(stage)
  await layTemplate(stage, hooks)
  await layConfiguredHooks(stage, version)
  await layHooks(stage, hooks)
  await layTrace(stage)

  const { root, directory, home } = repository
  return {
    root,
    directory,
    home,
    head,
    owed,
    lent,
    springs: stage.springs,
    traps: [...stage.expected].sort(),
    marks: () => stage.marks(),
    remove: () => repository.remove(),
  }
}
