import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onExit } from 'signal-exit'

export interface TempDir {
  /** Absolute, symlinks resolved. */
  readonly path: string
  remove(): Promise<void>
}

/** A longer root leaves too little of the 104 to 107 bytes that a Unix socket's path may have. */
const longestRoot = 32

const present = new Set<string>()
const removal = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const
// A test run ends its workers with a signal, which the event 'exit' does not tell. Last: processes write until they end.
onExit(
  () => {
    for (const path of present) rmSync(path, removal)
  },
  { alwaysLast: true },
)

/** A new directory with a short path, in no Git checkout even if TMPDIR lies in one; removed at exit at the latest. */
export function tempDir(prefix: string): TempDir {
  const path = mkdtempSync(join(tempRoot(), `${prefix}-`))
  present.add(path)
  return {
    path,
    async remove() {
      await rm(path, removal)
      present.delete(path)
    },
  }
}

function tempRoot(): string {
  const roots = [tmpdir(), '/tmp', '/var/tmp']
    .filter((root) => existsSync(root))
    .map((root) => realpathSync(root))
  const root = roots.find((candidate) => candidate.length <= longestRoot && !inGitCheckout(candidate))
  if (root === undefined) throw new Error(`every one of ${roots.join(', ')} is too long or in a Git checkout`)
  return root
}

function inGitCheckout(path: string): boolean {
  if (existsSync(join(path, '.git'))) return true
  const parent = dirname(path)
  return parent !== path && inGitCheckout(parent)
}
