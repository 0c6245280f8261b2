import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'

/** Whether nothing has this name, not even a dangling link. */
const isFree = (path: string): Promise<boolean> => lstat(path).then(() => false, isAbsent)

/**
 * Where an absolute path leads once all links are followed; of what does not exist yet, its parent's real path decides.
 * Undefined when that cannot be told: a relative path, a dangling link, a directory that may not be searched.
 */
export const realPathOf = async (path: string): Promise<string | undefined> => {
  if (!isAbsolute(path)) return undefined
  try {
    return await realpath(path)
  } catch (error) {
    // `..` below what is missing leads nowhere yet.
    if (!isAbsent(error) || basename(path) === '..' || !(await isFree(path))) return undefined
    const parent = await realPathOf(dirname(path))
    return parent === undefined ? undefined : join(parent, basename(path))
  }
}
