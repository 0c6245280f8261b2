/** One direction of one connection: sends in order, and stands still while anything blocks it. */
export interface Lane {
  push(send: () => void): void
  /** Returns the function that lifts this block. */
  block(): () => void
}

export function createLane(): Lane {
  const waiting: (() => void)[] = []
  const blocks = new Set<symbol>()

  function flush(): void {
    while (blocks.size === 0) {
      const send = waiting.shift()
      if (!send) return
      send()
    }
  }
  return {
    push(send) {
      waiting.push(send)
      flush()
    },
    block() {
      const block = Symbol('block')
      blocks.add(block)
      return () => {
        blocks.delete(block)
        flush()
      }
    },
  }
}
