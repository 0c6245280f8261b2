import { setTimeout as sleep } from 'node:timers/promises'

export interface PollOptions {
  /** Named in the error; the condition's source text by default. */
  readonly what?: string
  readonly timeoutMs?: number
  /** Milliseconds between two looks. */
  readonly every?: number
}

/**
 * Looks at a condition until it gives something other than undefined, null or false, and resolves to that.
 * A condition that throws is not met yet. Rejects after timeoutMs, naming what was awaited.
 */
export async function poll<T>(
  condition: () => T | Promise<T>,
  options: PollOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const { what = condition.toString(), timeoutMs = 10_000, every = 10 } = options
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const look = await lookOnce(condition)
    if (isMet(look.value)) return look.value
    if (performance.now() >= deadline) {
      throw new Error(`not within ${String(timeoutMs)} ms: ${what}`, { cause: look.error })
    }
    await sleep(every)
  }
}

async function lookOnce<T>(condition: () => T | Promise<T>): Promise<{ value?: T; error?: unknown }> {
  try {
    return { value: await condition() }
  } catch (error) {
    return { error }
  }
}

function isMet<T>(value: T | undefined): value is Exclude<T, undefined | null | false> {
  return value !== undefined && value !== null && value !== false
}
