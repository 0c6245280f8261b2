import { realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { BridgeError } from '../contract/errors.ts'

/**
 * The real path of an existing directory.
 * @throws BridgeError invalid_cwd that says what stands there instead
 */
export const resolveCwd = async (cwd: string, field = 'cwd'): Promise<string> => {
  const refuse = (what: string): BridgeError =>
    new BridgeError('invalid_cwd', `\`${field}\` ${what}: ${cwd}`, { field })
  if (!isAbsolute(cwd)) throw refuse('must be an absolute path')
  const stats = await stat(cwd).catch((error: NodeJS.ErrnoException) => {
    throw refuse(
      error.code === 'ENOENT' ? 'does not exist' : `cannot be looked at (${error.code ?? error.message})`,
    )
  })
  if (!stats.isDirectory()) throw refuse('is not a directory')
  return realpath(cwd)
}
