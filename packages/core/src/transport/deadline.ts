import type { Clock } from '../contract/tool.ts'

/** Runs `act` with a signal that aborts after `ms`. */
export const withDeadline = async <T>(
  clock: Clock,
  ms: number,
  act: (overdue: AbortSignal) => Promise<T>,
): Promise<T> => {
  const overdue = new AbortController()
  const done = new AbortController()
  clock.sleep(ms, done.signal).then(
    () => overdue.abort(),
    () => undefined,
  )
  try {
    return await act(overdue.signal)
  } finally {
    done.abort()
  }
}

/** The promise, or a rejection as soon as the signal aborts; what the promise stands for goes on. */
export const unlessAborted = <T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  reason: () => Error,
): Promise<T> => {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const abort = () => reject(reason())
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
