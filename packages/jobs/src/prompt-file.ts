import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import { BridgeError } from '@codex-thread-bridge/core/contract'

const MAX_BYTES = 1_048_576
const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

const refused = (why: string): BridgeError =>
  new BridgeError('invalid_arguments', `\`prompt_file\` ${why}.`, { field: 'prompt_file' })

const isWithin = (root: string, path: string): boolean =>
  path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)

const decoded = (bytes: Buffer): string => {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    throw refused('is not UTF-8 text')
  }
}

/**
 * The text of a prompt file, which lies below one of these real directories once links are followed; a relative path
 * starts at the first of them.
 * @throws BridgeError invalid_arguments that says what is wrong with it
 */
export const readPromptFile = async (
  path: string,
  roots: readonly [string, ...string[]],
): Promise<string> => {
  if (path.includes('\0')) throw refused('is no path')
  const real = await realpath(isAbsolute(path) ? path : join(roots[0], path)).catch(() => {
    throw refused('does not exist')
  })
  if (!roots.some((root) => isWithin(root, real)))
    throw refused('must be inside workFolder or an allowed directory')
  // Without waiting for the other end, should it be a pipe.
  const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => {
    throw refused('cannot be opened')
  })
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw refused('must be a file')
    if (stats.size > MAX_BYTES) throw refused(`has ${stats.size} bytes; at most ${MAX_BYTES} are allowed`)
    const text = decoded(await file.readFile())
    if (text.trim() === '') throw refused('is empty')
    if (text.includes('\0')) throw refused('is not text: it has NUL characters')
    return text
  } finally {
    await file.close()
  }
}
