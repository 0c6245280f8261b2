import { existsSync, lstatSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onExit } from 'signal-exit'

export interface TempDir {
  /** Absolute, symlinks resolved. */
  readonly path: string
  readonly remove: () => Promise<void>
}

/** A longer root leaves too little of the 104 to 107 bytes that a Unix socket's path may have. */
const longestRoot = 32

/** The directories that are to go, by path; the number tells each from another one in its place. */
const present = new Map<string, number>()
const removal = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const
// A test run ends its workers with a signal, which the event 'exit' does not tell. Last: processes write until they end.
onExit(
  () => {
    for (const path of present.keys()) if (isOurs(path)) rmSync(path, removal)
  },
  { alwaysLast: true },
)

/** A new directory with a short path, in no Git repository even if TMPDIR lies in one; removed at exit at the latest. */
export function tempDir(prefix: string): TempDir {
  const path = mkdtempSync(join(tempRoot(), `${prefix}-`))
  present.set(path, lstatSync(path).ino)
  return {
    path,
    async remove() {
      if (isOurs(path)) await rm(path, removal)
      present.delete(path)
    },
  }
}

/** Whether the directory that was made still stands there: nothing else is ever removed. */
function isOurs(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.ino === present.get(path)
}

function tempRoot(): string {
  const roots = [tmpdir(), '/tmp', '/var/tmp', '/dev/shm']
    .filter((root) => existsSync(root))
    .map((root) => realpathSync(root))
  const root = roots.find((candidate) => candidate.length <= longestRoot && !isInRepository(candidate))
  if (root === undefined)
    throw new Error(`every one of ${roots.join(', ')} is too long or in a Git repository`)
  return root
}

/** Whether the directory or one above it is a checkout, a Git directory or a bare repository, or looks like one. */
function isInRepository(path: string): boolean {
  if (isThere(join(path, '.git'))) return true
  if (['HEAD', 'objects', 'refs'].every((name) => isThere(join(path, name)))) return true
  const parent = dirname(path)
  return parent !== path && isInRepository(parent)
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
