/** How many of something may run at once; the rest waits in the order it came. */
export interface Slots {
  /** Resolves when there is a free one, which then is taken. After an abort it never resolves and takes none. */
  take(signal?: AbortSignal): Promise<void>
  /** Once for every slot that was taken. */
  release(): void
}

export const createSlots = (count: number): Slots => {
  const waiting = new Set<() => void>()
  let free = count

  return {
    take: (signal) => {
      if (signal?.aborted === true) return new Promise(() => undefined)
      if (free > 0) {
        free -= 1
        return Promise.resolve()
      }
      return new Promise((resolve) => {
        const leave = () => void waiting.delete(proceed)
        const proceed = (): void => {
          signal?.removeEventListener('abort', leave)
          resolve()
        }
        waiting.add(proceed)
        signal?.addEventListener('abort', leave, { once: true })
      })
    },
    release: () => {
      const [next] = waiting
      if (next === undefined) free += 1
      else {
        waiting.delete(next)
        next()
      }
    },
  }
}
