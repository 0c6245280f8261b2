import { readFileSync } from 'node:fs'
import { constants } from 'node:os'

export interface ExitStatus {
  /** As a shell counts it: 128 + n when signal n ended the CLI (or when it exited with that number itself). */
  readonly exitCode: number
  readonly signal: string | null
}

const signalName = (number: number): string | null =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null

/** What a status of a shell says. */
export const exitStatusOf = (status: number): ExitStatus => ({
  exitCode: status,
  signal: status > 128 ? signalName(status - 128) : null,
})

/** What the wrapper left; undefined while the CLI runs, or when the wrapper could not write. */
export const readExitStatus = (path: string): ExitStatus | undefined => {
  const status = readNumber(path)
  return status === undefined ? undefined : exitStatusOf(status)
}

/** A whole number alone in a small file; undefined when there is none. */
export const readNumber = (path: string): number | undefined => {
  try {
    const text = readFileSync(path, 'latin1').trim()
    return /^\d{1,10}$/.test(text) ? Number(text) : undefined
  } catch {
    return undefined
  }
}
