import { realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { BridgeError } from '../contract/errors.ts'
import { checkGitFiles } from './git-files.ts'
import { type Git, type Looking, looksIn } from './git.ts'
import { lineIn, linesIn, pathOf } from './text.ts'

/** An existing checkout; all paths are absolute and canonical. */
export interface SourceCheckout {
  readonly root: string
  /** Of this checkout: for a linked worktree `<commonDirectory>/worktrees/<name>`. */
  readonly gitDirectory: string
  /** Shared by all worktrees of the repository. */
  readonly commonDirectory: string
  readonly objectFormat: 'sha1' | 'sha256'
}

const questions = ['--show-toplevel', '--absolute-git-dir', '--git-common-dir'] as const

const ask = async (git: Git, cwd: string, what: readonly string[], looking: Looking): Promise<Buffer> =>
  lineIn((await git.run(['rev-parse', '--path-format=absolute', ...what], looksIn(cwd, looking))).stdout)

/** The paths, a line each; asked for one by one where a path has a line end of its own. */
const askPaths = async (git: Git, cwd: string, looking: Looking): Promise<readonly string[]> => {
  const paths = linesIn(await ask(git, cwd, questions, looking))
  if (paths.length === questions.length) return paths.map(pathOf)
  const each: string[] = []
  for (const question of questions) each.push(pathOf(await ask(git, cwd, [question], looking)))
  return each
}

/** Where the checkout around `cwd` lies. */
export const checkoutPaths = async (
  git: Git,
  cwd: string,
  looking: Looking = {},
): Promise<Pick<SourceCheckout, 'root' | 'gitDirectory' | 'commonDirectory'>> => {
  const [root = '', gitDirectory = '', commonDirectory = ''] = await askPaths(git, cwd, looking)
  return { root, gitDirectory, commonDirectory }
}

const refusal = (path: string, what: string, details: Readonly<Record<string, unknown>> = {}): BridgeError =>
  new BridgeError('invalid_source_repository', `The source repository ${what}: ${path}`, {
    details: { path, ...details },
  })

/** What Git says of a directory, or a refusal with Git's reason. */
const asking = async <T>(path: string, ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask()
  } catch (error) {
    if (!BridgeError.is(error) || error.code !== 'git_failed') throw error
    throw refusal(path, `cannot be read by Git (${error.message})`, error.details)
  }
}

/** @throws BridgeError invalid_source_repository unless the path is its own real path and a directory */
const checkPath = async (path: string): Promise<void> => {
  if (!isAbsolute(path)) throw refusal(path, 'must be an absolute path')
  const real = await realpath(path).catch((error: NodeJS.ErrnoException) => {
    const what = error.code === 'ENOENT' ? 'does not exist' : `cannot be looked at (${String(error.code)})`
    throw refusal(path, what)
  })
  if (real !== path) throw refusal(path, `must be its real path, ${real}`, { realPath: real })
  if (!(await stat(path)).isDirectory()) throw refusal(path, 'is not a directory')
}

/**
 * The root of an existing checkout (main or linked worktree, sparse too) that is given by its canonical path.
 * @throws BridgeError invalid_source_repository with what was found; unsupported_path
 */
export const sourceCheckout = async (
  git: Git,
  path: string,
  looking: Looking = {},
): Promise<SourceCheckout> => {
  await checkPath(path)
  await checkGitFiles(path)
  return asking(path, async () => {
    const facts = ['rev-parse', '--is-bare-repository', '--is-inside-git-dir', '--show-object-format']
    const { stdout } = await git.run(facts, looksIn(path, looking))
    const [bare, insideGitDirectory, objectFormat] = stdout.toString('utf8').split('\n')
    if (bare === 'true') throw refusal(path, 'is bare; a checkout is needed')
    if (insideGitDirectory === 'true') throw refusal(path, 'is a Git directory, not a checkout')
    if (objectFormat !== 'sha1' && objectFormat !== 'sha256') {
      throw refusal(path, `has an object format that is not supported (${String(objectFormat)})`)
    }
    const paths = await checkoutPaths(git, path, looking)
    if (paths.root === path) return { ...paths, objectFormat }
    throw refusal(path, `is not the root of its checkout, ${paths.root}`, { root: paths.root })
  })
}
