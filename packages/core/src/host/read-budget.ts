import { TransportError } from '../contract/errors.ts'
import type { Surroundings } from './context.ts'

/** Waits end themselves when the budget does; this is for what hangs beyond it. */
const GRACE_MS = 2_000

/**
 * Runs a read that ends with the call budget at the latest, its calls to the App Server given up.
 * @throws TransportError request_timeout
 */
export const withinBudget = async <T>(
  { clock, limits }: Pick<Surroundings, 'clock' | 'limits'>,
  outer: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const over = new AbortController()
  const done = new AbortController()
  const signal = outer === undefined ? over.signal : AbortSignal.any([outer, over.signal])
  const timer = clock.sleep(limits.callMs + GRACE_MS, done.signal).then(() => {
    const late = new TransportError(
      'request_timeout',
      'The read did not end within the call budget.',
      'unknown',
    )
    over.abort(late)
    throw late
  })
  try {
    return await Promise.race([run(signal), timer])
  } finally {
    timer.catch(() => undefined)
    done.abort()
  }
}
