import { createHash } from 'node:crypto'
import { constants, createReadStream, type Stats } from 'node:fs'
import { chmod, copyFile, lstat, mkdir, readlink, rm, rmdir, symlink } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { BridgeError } from '@codex-thread-bridge/core/contract'

const EXECUTABLE = 0o111
const SLASH = 0x2f

/** A path below a root, as bytes: names need not be UTF-8. */
export const below = (root: string, path: Buffer): Buffer => Buffer.concat([Buffer.from(`${root}/`), path])

const look = (path: Buffer): Promise<Stats | undefined> =>
  lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })

/** What Git keeps of a file beside its content. A directory in the place of a file counts as no file. */
type Kind = 'none' | 'file' | 'executable' | 'link' | 'other'

const kindOf = (stats: Stats | undefined): Kind => {
  if (stats === undefined || stats.isDirectory()) return 'none'
  if (stats.isSymbolicLink()) return 'link'
  if (!stats.isFile()) return 'other'
  return (stats.mode & EXECUTABLE) === 0 ? 'file' : 'executable'
}

const digest = async (path: Buffer): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** A file's kind and content in one text; the same for the same file. */
export const stateOf = async (root: string, path: Buffer): Promise<string> => {
  const file = below(root, path)
  const kind = kindOf(await look(file))
  if (kind === 'link') return `link ${(await readlink(file, 'buffer')).toString('latin1')}`
  return kind === 'file' || kind === 'executable' ? `${kind} ${await digest(file)}` : kind
}

/** Removes what stands at a path, unless it is a directory, and the directories that this leaves empty. */
export const removeFile = async (root: string, path: Buffer): Promise<void> => {
  const file = below(root, path)
  const stats = await look(file)
  if (stats === undefined || stats.isDirectory()) return
  await rm(file)
  for (let end = path.lastIndexOf(SLASH); end > 0; end = path.lastIndexOf(SLASH, end - 1))
    if (!(await removedEmpty(below(root, path.subarray(0, end))))) return
}

const removedEmpty = (directory: Buffer): Promise<boolean> =>
  rmdir(directory).then(
    () => true,
    () => false,
  )

/** Makes the directories above a path, following no link out of the root. */
const makeParents = async (root: string, path: Buffer): Promise<void> => {
  for (let end = path.indexOf(SLASH); end !== -1; end = path.indexOf(SLASH, end + 1)) {
    const parent = below(root, path.subarray(0, end))
    const stats = await look(parent)
    if (stats === undefined) await mkdir(parent)
    else if (!stats.isDirectory())
      throw new BridgeError('uncarried_changes', `${parent.toString('utf8')} is no directory.`)
  }
}

/** Makes the file at a path what it is in another checkout: link, content and executable bit; no file where there is none. */
export const copyState = async (from: string, to: string, path: Buffer): Promise<void> => {
  const source = below(from, path)
  const stats = await look(source)
  const kind = kindOf(stats)
  if (kind === 'other')
    throw new BridgeError('uncarried_changes', `${path.toString('utf8')} is neither a file nor a link.`)
  await removeFile(to, path)
  if (kind === 'none' || stats === undefined) return
  await makeParents(to, path)
  const target = below(to, path)
  if (kind === 'link') return symlink(await readlink(source, 'buffer'), target)
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  await chmod(target, stats.mode & 0o777)
}
