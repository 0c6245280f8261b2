import type { Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { BridgeError } from '../contract/errors.ts'

/** What Git opens of a Git directory, or of the one that worktrees share, before it can tell anything of a repository. */
const names = [
  'HEAD',
  'config',
  'config.worktree',
  'commondir',
  'gitdir',
  'index',
  'packed-refs',
  'shallow',
  'info/attributes',
  'info/exclude',
  'info/grafts',
  'info/sparse-checkout',
  'objects/info/alternates',
] as const

/** A file that only names a directory is no longer than a path. */
const POINTER_MAX = 64 * 1024

/** Where a path leads; what cannot be looked at is left to Git. */
const look = (path: string): Promise<Stats | undefined> => stat(path).catch(() => undefined)

/** The text of a file that names a directory; undefined for anything else. */
const pointerIn = async (file: string): Promise<string | undefined> => {
  const stats = await look(file)
  if (stats?.isFile() !== true || stats.size > POINTER_MAX) return undefined
  return (await readFile(file, 'utf8').catch(() => '')).replace(/\n+$/, '')
}

/** The Git directory that Git takes for a directory: its `.git`, where a file `.git` leads, or itself when it is one. */
const gitDirectoryOf = async (directory: string): Promise<string | undefined> => {
  const entry = join(directory, '.git')
  const [, target] = /^gitdir: (.+)$/s.exec((await pointerIn(entry)) ?? '') ?? []
  if (target !== undefined) return resolve(directory, target)
  if (await look(join(entry, 'HEAD'))) return entry
  const isOne = (await look(join(directory, 'HEAD'))) && (await look(join(directory, 'objects')))
  return isOne ? directory : undefined
}

const kindOf = (stats: Stats): string =>
  stats.isFIFO() ? 'a named pipe' : stats.isSocket() ? 'a socket' : 'a device'

const checkFilesIn = async (gitDirectory: string): Promise<void> => {
  for (const file of names.map((name) => join(gitDirectory, name))) {
    const stats = await look(file)
    // A directory keeps nobody waiting: Git itself says what is wrong with it.
    if (stats === undefined || stats.isFile() || stats.isDirectory()) continue
    throw new BridgeError(
      'invalid_source_repository',
      `Git cannot read the repository: ${file} is ${kindOf(stats)}, not a regular file.`,
      { hint: 'Put the file back, or take away what stands there.', details: { path: file } },
    )
  }
}

/**
 * Looks whether one of the well-known files of the repository around a directory would keep Git waiting for ever. Goes
 * before the first Git command there.
 * @throws BridgeError invalid_source_repository that names the file
 */
export const checkGitFiles = async (directory: string): Promise<void> => {
  const gitDirectory = await gitDirectoryOf(directory)
  if (gitDirectory === undefined) {
    const parent = dirname(directory)
    return parent === directory ? undefined : checkGitFiles(parent)
  }
  await checkFilesIn(gitDirectory)
  const common = await pointerIn(join(gitDirectory, 'commondir'))
  if (common !== undefined) await checkFilesIn(resolve(gitDirectory, common))
}
