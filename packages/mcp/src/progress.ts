const INTERVAL_MS = 1_000

export interface Progress {
  /** Passed on unless the last one was passed on less than a second ago. */
  report(message: string): void
  /** Nothing is passed on any more: MCP allows no progress after the answer. */
  end(): void
}

/** Progress of one call: `notify` gets a count that rises and the message. `now` is in milliseconds. */
export const throttledProgress = (
  notify: (count: number, message: string) => void,
  now: () => number = () => performance.now(),
): Progress => {
  let count = 0
  let earliest = -Infinity
  return {
    report(message) {
      const at = now()
      if (at < earliest) return
      earliest = at + INTERVAL_MS
      count += 1
      notify(count, message)
    },
    end() {
      earliest = Infinity
    },
  }
}
