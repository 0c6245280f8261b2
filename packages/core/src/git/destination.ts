import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, realpath, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { BridgeError } from '../contract/errors.ts'

/** A directory that we made, and by which it is known again. */
export interface Reservation {
  readonly path: string
  readonly device: number
  readonly inode: number
}

const refuse = (path: string, what: string, details: Readonly<Record<string, unknown>> = {}): BridgeError =>
  new BridgeError('invalid_destination', `The destination ${what}: ${path}`, {
    details: { path, ...details },
  })

const exists = (path: string): BridgeError =>
  new BridgeError('destination_exists', `The destination exists already: ${path}`, { details: { path } })

/** What stands at a path that leads to the destination; undefined when nothing does. */
const look = (destination: string, path: string): Promise<Stats | undefined> =>
  lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw refuse(destination, `cannot be judged: ${path} cannot be looked at (${String(error.code)})`)
  })

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )

/** What Git itself takes for a Git directory: a HEAD, with objects and refs, or with the way to them. */
const isGitDirectory = async (destination: string, path: string): Promise<boolean> => {
  if ((await look(destination, join(path, 'HEAD'))) === undefined) return false
  if ((await isDirectory(join(path, 'objects'))) && (await isDirectory(join(path, 'refs')))) return true
  return (await look(destination, join(path, 'commondir'))) !== undefined
}

/** An empty directory named .git is none: Codex's sandbox leaves such in places that a task may write to. */
const isCheckoutRoot = async (destination: string, path: string): Promise<boolean> => {
  const entry = join(path, '.git')
  const stats = await look(destination, entry)
  return stats !== undefined && (!stats.isDirectory() || (await isGitDirectory(destination, entry)))
}

/** The nearest directory above the destination that is a checkout's root or a Git directory. */
const repositoryAround = async (destination: string, path: string): Promise<string | undefined> => {
  if ((await isCheckoutRoot(destination, path)) || (await isGitDirectory(destination, path))) return path
  const parent = dirname(path)
  return parent === path ? undefined : repositoryAround(destination, parent)
}

/**
 * Checks that a worktree can be made at `path`: canonical, absent, in an existing directory, outside every repository.
 * @throws BridgeError invalid_destination, destination_exists
 */
export const checkDestination = async (path: string): Promise<void> => {
  if (!isAbsolute(path)) throw refuse(path, 'must be an absolute path')
  if (path.includes('\0') || Buffer.from(path).toString() !== path) throw refuse(path, 'is no path')
  const parent = dirname(path)
  const real = await realpath(parent).catch((error: NodeJS.ErrnoException) => {
    throw refuse(path, `has no directory to be in (${String(error.code)})`, { parent })
  })
  const canonical = join(real, basename(path))
  if (canonical !== path) throw refuse(path, `must be its real path, ${canonical}`, { realPath: canonical })
  if (!(await isDirectory(parent))) throw refuse(path, 'has no directory to be in', { parent })
  if ((await look(path, path)) !== undefined) throw exists(path)
  const repository = await repositoryAround(path, parent)
  if (repository !== undefined) {
    throw refuse(path, `lies in a Git repository, ${repository}`, { repository })
  }
}

interface Identity {
  readonly dev: number
  readonly ino: number
}

const isSame = (one: Identity, other: Identity): boolean => one.dev === other.dev && one.ino === other.ino

/** Whether a path is its own real path and leads to this very directory, not to a link. */
const leadsTo = async (path: string, directory: Identity): Promise<boolean> => {
  const found = await lstat(path).catch(() => undefined)
  const real = await realpath(path).catch(() => undefined)
  return found?.isDirectory() === true && isSame(found, directory) && real === path
}

/** The directory to make something in, held open: whatever its path leads to later, it stays this one. */
const openParent = async (path: string): Promise<FileHandle> => {
  const parent = dirname(path)
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
  const handle = await open(parent, flags).catch((error: NodeJS.ErrnoException) => {
    throw refuse(path, `has no directory to be in (${String(error.code)})`, { parent })
  })
  if (await leadsTo(parent, await handle.stat())) return handle
  await handle.close()
  throw refuse(path, 'no longer leads where it did', { parent })
}

/**
 * Makes the destination, for us alone (mode 0700). Exactly one of several callers succeeds.
 * @throws BridgeError destination_exists when it is there; invalid_destination when the path no longer leads where it
 * did, or nothing can be made there: nothing is left then
 */
export const reserveDestination = async (path: string): Promise<Reservation> => {
  const parent = await openParent(path)
  try {
    // Where the system lets us go through the open directory, a parent that is swapped now is not followed.
    const through = `/proc/self/fd/${String(parent.fd)}`
    const place = (await isDirectory(through)) ? join(through, basename(path)) : path
    await mkdir(place, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw exists(path)
      throw refuse(path, `cannot be made (${String(error.code)})`, { errno: error.code })
    })
    const made = await lstat(place).catch(() => undefined)
    if (made === undefined) throw refuse(path, 'was moved away as soon as it was made')
    if (await leadsTo(path, made)) return { path, device: made.dev, inode: made.ino }
    // Only what is provably ours is taken away again, and only while it is empty.
    if (place !== path) await rmdir(place).catch(() => undefined)
    throw refuse(path, 'no longer leads where it did')
  } finally {
    await parent.close()
  }
}

export const destinationChanged = ({ path }: Reservation): BridgeError =>
  new BridgeError('destination_changed', `The destination is not the directory that was made: ${path}`, {
    details: { path },
  })

/**
 * Checks that the path still leads to the directory that we made.
 * @throws BridgeError destination_changed
 */
export const checkReservation = async (reservation: Reservation): Promise<void> => {
  const { path, device, inode } = reservation
  if (!(await leadsTo(path, { dev: device, ino: inode }))) throw destinationChanged(reservation)
}
