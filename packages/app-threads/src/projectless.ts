import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { BridgeError, given } from '@codex-thread-bridge/core/contract'

const NAME_MAX = 60
const TRIES = 1_000

/** A directory name from anything: letters, digits, dot, dash and underscore, never one that leads elsewhere. */
export const directoryName = (wanted: string): string => {
  const name = [...wanted.normalize('NFC')]
    .join('')
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
  return (
    [...name]
      .slice(0, NAME_MAX)
      .join('')
      .replaceAll(/[-.]+$/g, '') || 'thread'
  )
}

const two = (value: number): string => String(value).padStart(2, '0')

/** YYYY-MM-DD, where the bridge runs. */
export const dayOf = (at: Date): string =>
  `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST'

/** The caller names no path: where directories are made, the operator says. */
const refused = (message: string, cause?: unknown): BridgeError =>
  new BridgeError('invalid_cwd', message, {
    hint: 'Use a project of list_projects; the operator says with --documents-root where directories are made.',
    ...given({ cause }),
  })

/**
 * Makes `<root>/<day>/<name>`, or `<name>-2` and so on when that is taken; returns its real path. Exactly one of several
 * callers gets each.
 * @throws BridgeError invalid_cwd when the day's directory leads out of the root
 */
export const makeDirectory = async (root: string, day: string, name: string): Promise<string> => {
  try {
    return await make(root, day, name)
  } catch (error) {
    if (BridgeError.is(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw refused(`No directory can be made in ${root}: ${reason}`, error)
  }
}

const make = async (root: string, day: string, name: string): Promise<string> => {
  await mkdir(root, { recursive: true })
  const realRoot = await realpath(root)
  const parent = join(realRoot, day)
  await mkdir(parent).catch((error: unknown) => {
    if (!isTaken(error)) throw error
  })
  if ((await realpath(parent)) !== parent) throw refused(`${parent} leads to another place.`)
  for (let count = 1; count <= TRIES; count += 1) {
    const path = join(parent, count === 1 ? name : `${name}-${count}`)
    try {
      await mkdir(path)
      return path
    } catch (error) {
      if (!isTaken(error)) throw error
    }
  }
  throw refused(`${parent} has ${TRIES} directories called ${name} already.`)
}
