import { realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { BridgeError } from '../contract/errors.ts'
import { given } from '../contract/given.ts'
import type { InputFault } from '../contract/tool.ts'

const NOT_ABSOLUTE = 'must be an absolute path'

/** What is wrong with a path that is relative: told before the ceiling, which cannot judge it. */
export const absoluteFault = (
  field: string,
  path: string,
  code: NonNullable<InputFault['code']> = 'invalid_cwd',
): InputFault | undefined =>
  isAbsolute(path) ? undefined : { field, code, message: `\`${field}\` ${NOT_ABSOLUTE}: ${path}` }

/**
 * The real path of an existing directory. `hint` says what to do where the caller did not name the path itself.
 * @throws BridgeError invalid_cwd that says what stands there instead
 */
export const resolveCwd = async (cwd: string, field = 'cwd', hint?: string): Promise<string> => {
  const refuse = (what: string): BridgeError =>
    new BridgeError('invalid_cwd', `\`${field}\` ${what}: ${cwd}`, { field, ...given({ hint }) })
  if (!isAbsolute(cwd)) throw refuse(NOT_ABSOLUTE)
  const stats = await stat(cwd).catch((error: NodeJS.ErrnoException) => {
    throw refuse(
      error.code === 'ENOENT' ? 'does not exist' : `cannot be looked at (${error.code ?? error.message})`,
    )
  })
  if (!stats.isDirectory()) throw refuse('is not a directory')
  return realpath(cwd)
}
