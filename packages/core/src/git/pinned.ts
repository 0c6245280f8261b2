import { constants } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { checkReservation, destinationChanged, type Reservation } from './destination.ts'

/** A directory that is held open for a Git command. */
export interface PinnedDirectory {
  /** To be given to the command as its descriptor 3; undefined where the system has no way through it (macOS). */
  readonly descriptor: number | undefined
  /** Leads to this very directory in that command, whatever its name leads to by then; else its name. */
  readonly path: string
}

const THROUGH_DESCRIPTOR = '/proc/self/fd/3'
const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

const hasDescriptorPaths = (): Promise<boolean> =>
  lstat('/proc/self/fd').then(
    () => true,
    () => false,
  )

/**
 * Acts on the directory that was reserved: one that is put in its place is not reached, before, meanwhile or after.
 * @throws BridgeError destination_changed: before the act when nothing was done, after it when `act` was done in the
 * directory, which no longer stands at its path
 */
export const inReserved = async <T>(
  reservation: Reservation,
  act: (pinned: PinnedDirectory) => Promise<T>,
): Promise<T> => {
  await checkReservation(reservation)
  const handle = await open(reservation.path, FLAGS).catch(() => {
    throw destinationChanged(reservation)
  })
  try {
    const { dev, ino } = await handle.stat()
    if (dev !== reservation.device || ino !== reservation.inode) throw destinationChanged(reservation)
    const through = await hasDescriptorPaths()
    const answer = await act({
      descriptor: through ? handle.fd : undefined,
      path: through ? THROUGH_DESCRIPTOR : reservation.path,
    })
    await checkReservation(reservation)
    return answer
  } finally {
    await handle.close()
  }
}
