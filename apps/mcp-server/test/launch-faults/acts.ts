import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { userEnvironment } from '@codex-thread-bridge/test-fixtures'
import { launchMeanwhile } from './child.ts'
import type { GitFault } from './git-faults.ts'
import type { Site } from './site.ts'

/** What somebody else does in the moment before the work of a place begins. */
type Act = (site: Site) => void

const gitIn = (cwd: string, { repository }: Site, args: readonly string[]): string =>
  execFileSync('git', args, { cwd, env: userEnvironment(repository.home), encoding: 'utf8' }).trim()

const moveAway = ({ undo }: Site, path: string): void => {
  renameSync(path, `${path}.moved`)
  undo.push(() => {
    rmSync(path, { force: true })
    renameSync(`${path}.moved`, path)
  })
}

/** The index of the new worktree, or of the source while there is none. */
const lockIndex: Act = ({ repository, destination }) => {
  const link = join(destination, '.git')
  const own = existsSync(link) ? /^gitdir: (.*)$/m.exec(readFileSync(link, 'utf8'))?.[1] : undefined
  writeFileSync(join(own ?? join(repository.root, '.git'), 'index.lock'), '')
}

const root = process.getuid?.() === 0

/** The system does not let us make what the fault needs. */
export class CannotBePlayed extends Error {}

const mount = ({ undo }: Site, path: string, options: string): void => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    throw new CannotBePlayed('only root may mount a file system')
  }
  undo.push(() => execFileSync('umount', [path]))
}

/** Not even root writes to a file system that is read-only; others are kept out by the mode. */
const readOnly: Act = (site) => {
  const { parent, undo } = site
  if (root) return mount(site, parent, 'ro')
  chmodSync(parent, 0o555)
  undo.push(() => chmodSync(parent, 0o755))
}

export const acts: Readonly<Partial<Record<GitFault, Act>>> = {
  gitMissing: (site) => moveAway(site, site.git.file),
  indexLocked: lockIndex,
  // Where Git writes, the stand-in keeps it from writing.
  noSpace: (site) => {
    if (site.place.git === undefined) mount(site, site.parent, 'nr_inodes=1')
  },
  readOnlyParent: readOnly,
  sourceRemoved: (site) => moveAway(site, site.repository.root),
  parentSwapped: (site) => {
    moveAway(site, site.parent)
    symlinkSync(`${site.parent}.moved`, site.parent)
  },
  appears: ({ destination }) => {
    const there = lstatSync(destination, { throwIfNoEntry: false }) !== undefined
    writeFileSync(there ? join(destination, 'read me.txt') : destination, 'of somebody else\n')
  },
  otherLaunch: runOther,
  dirtied: ({ destination }) => writeFileSync(join(destination, 'new.txt'), 'new\n'),
  otherHead: (site) => {
    const { repository, destination } = site
    const commit = ['commit-tree', '-m', 'another', `${repository.head}^{tree}`]
    gitIn(destination, site, ['update-ref', '--no-deref', 'HEAD', gitIn(repository.root, site, commit)])
  },
  branched: (site) => {
    gitIn(site.destination, site, ['branch', 'task', site.repository.head])
    gitIn(site.destination, site, ['symbolic-ref', 'HEAD', 'refs/heads/task'])
  },
  unlocked: (site) => gitIn(site.repository.root, site, ['worktree', 'unlock', site.destination]),
  removed: ({ destination }) => rmSync(destination, { recursive: true }),
}

/** A whole launch by another process while this one stands still. */
function runOther({ stage, repository, args, requestId }: Site): void {
  const stateDir = join(repository.directory, 'other')
  mkdirSync(stateDir, { mode: 0o700 })
  const { prompt: _prompt, ...same } = args
  launchMeanwhile({
    socketPath: stage.world.appServer.socketPath,
    stateDir,
    args: { ...same, request_id: `other ${requestId}` },
  })
}
