/** How many of something may run at once; the rest waits in the order it came. */
export interface Slots {
  /** Resolves to true when a slot is free, which then is taken; to false, with none taken, once the signal aborts. */
  take(signal?: AbortSignal): Promise<boolean>
  /** Once for every slot that was taken. */
  release(): void
}

export const createSlots = (count: number): Slots => {
  const waiting = new Set<() => void>()
  let free = count

  return {
    take: async (signal) => {
      if (signal?.aborted === true) return false
      if (free > 0) {
        free -= 1
        return true
      }
      return new Promise((resolve) => {
        const leave = (): void => {
          waiting.delete(proceed)
          resolve(false)
        }
        const proceed = (): void => {
          signal?.removeEventListener('abort', leave)
          resolve(true)
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
