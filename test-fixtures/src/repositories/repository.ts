import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tempDir } from '../temp-dir.ts'
import { commitStream, type TreeEntry } from './fast-import.ts'
import { plainGit } from './plain-git.ts'

export interface RepositoryOptions {
  /** Default: sha1. */
  readonly objectFormat?: 'sha1' | 'sha256'
  /** The repository's folder within its directory; any characters. Default: `source`. */
  readonly name?: string
  /** The first commit's. Default: one file. */
  readonly files?: readonly TreeEntry[]
  /** Whether commits are written into the checkout. Default: yes. */
  readonly checkedOut?: boolean
}

export interface CommitPlace {
  readonly branch: string
  readonly parent: string
}

export interface Repository {
  /** The checkout's root; its parent holds nothing but this and `home`. */
  readonly root: string
  /** Where more may be put; in no checkout. */
  readonly directory: string
  /** The user's home that Git sees; its `.gitconfig` holds an identity. */
  readonly home: string
  /** The first commit. */
  readonly head: string
  /** Plain Git; in the root unless told otherwise. */
  readonly git: (args: readonly string[], cwd?: string) => Promise<string>
  /** One more commit, on `main` unless told otherwise; its id. */
  commit(files: readonly TreeEntry[], place?: CommitPlace): Promise<string>
  remove(): Promise<void>
}

const identity = '[user]\n\tname = Test\n\temail = test@example.invalid\n'

/** A repository with one commit on `main`, and a user's home beside it. */
export async function createRepository(options: RepositoryOptions = {}): Promise<Repository> {
  const { objectFormat = 'sha1', name = 'source', checkedOut = true } = options
  const files = options.files ?? [{ path: 'read me.txt', content: 'hello\n' }]
  const folder = tempDir('git')
  const directory = folder.path
  const root = join(directory, name)
  const home = join(directory, 'home')
  await mkdir(home)
  await writeFile(join(home, '.gitconfig'), identity)
  const git = (args: readonly string[], cwd = root) => plainGit(args, { cwd, home })
  const init = ['init', '--quiet', '--initial-branch=main', `--object-format=${objectFormat}`, '--', root]
  await git(init, directory)

  let last: string | undefined
  const importCommit = async (files: readonly TreeEntry[], branch: string, parent: string | undefined) => {
    const input = commitStream(`refs/heads/${branch}`, parent, 'A commit', files)
    await plainGit(['fast-import', '--quiet', '--done'], { cwd: root, home, input })
    return git(['rev-parse', `refs/heads/${branch}`])
  }
  const commit = async (entries: readonly TreeEntry[], place?: CommitPlace): Promise<string> => {
    if (place !== undefined) return importCommit(entries, place.branch, place.parent)
    last = await importCommit(entries, 'main', last)
    if (checkedOut) await git(['reset', '--quiet', '--hard'])
    return last
  }

  const head = await commit(files)
  return { root, directory, home, head, git, commit, remove: () => folder.remove() }
}
