import { accessSync, constants, existsSync, lstatSync, statfsSync, statSync, type Stats } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { asBridgeError } from '@codex-thread-bridge/core/contract'
import {
  checkIntegrity,
  fileSystemKind,
  ledgerPlace,
  obstacleTo,
  openLedger,
  otherLedgerPaths,
  tryImport,
  type LedgerPlace,
} from '@codex-thread-bridge/core/ledger'
import { fail, ok, quoted, warn, type Check } from './check.ts'

const MIB = 1024 * 1024
const SPACE_WARN = 200 * MIB
const SPACE_FAIL = 20 * MIB

/** The path itself, or the nearest directory above it that exists. */
const nearestExisting = (path: string): string => (existsSync(path) ? path : nearestExisting(dirname(path)))

const isWritable = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** What keeps a file or directory from being ours alone, or undefined. */
const notPrivate = (path: string, stats: Stats, mode: '700' | '600'): Check | undefined => {
  if (stats.uid !== process.getuid?.())
    return fail(
      'ledger',
      `${path} belongs to uid ${String(stats.uid)}`,
      `ls -ld ${quoted(path)} # then --state-dir`,
    )
  if ((stats.mode & 0o077) !== 0)
    return fail('ledger', `${path} is open to others`, `chmod ${mode} ${quoted(path)}`)
  return isWritable(path)
    ? undefined
    : fail('ledger', `${path} cannot be written`, `chmod u+rw ${quoted(path)}`)
}

const checkFile = (path: string): Check => {
  const directory = dirname(path)
  const directoryStats = statSync(directory, { throwIfNoEntry: false })
  const obstacle = obstacleTo(directory)
  if (obstacle !== undefined)
    return fail('ledger', obstacle, `ls -ld ${quoted(directory)} # then --state-dir`)
  if (directoryStats === undefined) {
    const parent = nearestExisting(directory)
    return isWritable(parent)
      ? ok('ledger', `${path} (made by the first mutation)`)
      : fail('ledger', `${directory} cannot be made: ${parent} cannot be written`, `ls -ld ${quoted(parent)}`)
  }
  const openDirectory = notPrivate(directory, directoryStats, '700')
  if (openDirectory !== undefined) return openDirectory
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return ok('ledger', `${path} (made by the first mutation)`)
  if (!stats.isFile()) return fail('ledger', `${path} is no plain file`, `ls -ld ${quoted(path)}`)
  // SQLite gives its own files the mode of the ledger; someone may have changed that since.
  for (const file of [path, `${path}-wal`, `${path}-shm`].filter((name) => existsSync(name))) {
    const open = notPrivate(file, statSync(file), '600')
    if (open !== undefined) return open
  }
  return ok('ledger', `${path}, ${(stats.size / MIB).toFixed(1)} MiB`)
}

/** Reads through a ledger that is there and not empty. */
const checkContents = async (path: string): Promise<readonly Check[]> => {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return []
  const aside = `mv ${quoted(path)} ${quoted(`${path}.damaged`)} # then copy a backup there; without one its receipts are forgotten`
  try {
    const [first, ...more] = await checkIntegrity(path)
    if (first === undefined) return [ok('integrity', 'nothing wrong')]
    return [fail('integrity', `${first}${more.length === 0 ? '' : ', and more'}`, aside)]
  } catch (error) {
    const { code, message, hint } = asBridgeError(error)
    const what = `${message} (${code})`
    if (code === 'ledger_locked') return [warn('integrity', what, hint)]
    return [fail('integrity', what, code === 'ledger_corrupt' ? aside : hint)]
  }
}

/** Whether ledgers under other names of the socket can be taken over; a server that finds a conflict does not start. */
const checkImport = async (place: LedgerPlace): Promise<readonly Check[]> => {
  try {
    return (await tryImport(place)) ? [ok('import', 'ledgers of other names can be taken over')] : []
  } catch (error) {
    const { code, message, hint } = asBridgeError(error)
    const what = `${message} (${code})`
    if (code === 'ledger_locked') return [warn('import', what, hint)]
    if (code !== 'ledger_import_conflict') return [fail('import', what, hint)]
    const files = [ledgerPlace(place).path, ...otherLedgerPaths(place)].filter((file) => existsSync(file))
    const list = `ls -l ${files.map(quoted).join(' ')}`
    return [fail('import', what, `${list} # keep both, and move the one that you do not go by out of there`)]
  }
}

const checkFileSystem = (directory: string): Check => {
  const { name, network } = fileSystemKind(directory)
  return network
    ? warn(
        'file system',
        `the ledger is on ${name}: slower, and unsafe for several hosts`,
        '--state-dir on a local disk',
      )
    : ok('file system', 'local')
}

const checkSpace = (directory: string): Check => {
  const { bavail, bsize } = statfsSync(directory)
  const free = bavail * bsize
  const message = `${String(Math.floor(free / MIB))} MiB free at ${directory}`
  const next = `df -h ${quoted(directory)}`
  if (free < SPACE_FAIL) return fail('disk', message, next)
  return free < SPACE_WARN ? warn('disk', message, next) : ok('disk', message)
}

/** Opens a ledger that is gone right afterwards: the user's own is not touched. */
const checkDriver = async (): Promise<Check> => {
  const directory = await mkdtemp(join(tmpdir(), 'ctb-doctor-'))
  try {
    const ledger = await openLedger({ path: join(directory, 'probe.sqlite3'), endpoint: 'doctor' })
    ledger.close()
    return ok('sqlite', 'better-sqlite3 loads')
  } catch (error) {
    const { code, message, hint } = asBridgeError(error)
    return fail('sqlite', `${message} (${code})`, hint)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** The ledger's file, what is in it, its directory, file system and driver, and the space for it. Makes nothing there. */
export const checkLedger = async (place: LedgerPlace): Promise<readonly Check[]> => {
  const { path } = ledgerPlace(place)
  const directory = nearestExisting(dirname(path))
  const file = checkFile(path)
  return [
    file,
    ...(file.state === 'ok' ? [...(await checkContents(path)), ...(await checkImport(place))] : []),
    checkFileSystem(directory),
    checkSpace(directory),
    await checkDriver(),
  ]
}
