import type { Cli } from '../clis/cli.ts'
import { Follower } from './follower.ts'
import { newReading, type Reading } from './reading.ts'

const END_BYTES = 1_048_576

/**
 * What the end of an output says of how its CLI ended, however much stands before it: a closing event comes last.
 * `reading` is how far the output was read; undefined when only reading all of it could tell.
 */
export const readEnd = async (
  path: string,
  cli: Cli,
  reading: Reading,
  end: number,
): Promise<Reading | undefined> => {
  const from = Math.max(reading.offset, end - END_BYTES)
  const goesOn = from === reading.offset
  const last: Reading = { ...(goesOn ? structuredClone(reading) : newReading()), offset: from, end }
  await new Follower(path, cli, last, () => 0).finish()
  return goesOn || last.closed !== null ? last : undefined
}
