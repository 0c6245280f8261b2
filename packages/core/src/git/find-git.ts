import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { BridgeError } from '../contract/errors.ts'

const isProgram = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

/**
 * The first `git` in the given directories.
 * @throws BridgeError git_missing
 */
export const findGit = async (directories: readonly string[]): Promise<string> => {
  for (const directory of directories) {
    const path = join(directory, 'git')
    if (await isProgram(path)) return path
  }
  throw new BridgeError('git_missing', `There is no git in PATH (${directories.join(', ') || 'empty'}).`)
}
