import type { Liveness } from './owner.ts'

/** Runs a read of the ledger; the answers of `alive` hold for what that read saw. */
export type Reading = <T>(read: (alive: Liveness) => T) => T

/**
 * A row read while its owner lived may lack what the owner saved before it died, and would prove too much. So a read
 * that finds a new death is done again: what counts was read after the death. Each owner costs one look a read.
 */
export const afterDeath = (isAlive: Liveness): Reading => {
  const dead = new Set<string>()
  return (read) => {
    for (;;) {
      const deaths = dead.size
      const living = new Set<string>()
      const result = read((owner) => {
        const key = `${owner.pid} ${owner.startTime} ${owner.bootId}`
        if (dead.has(key)) return false
        if (!living.has(key) && !isAlive(owner)) dead.add(key)
        else living.add(key)
        return living.has(key)
      })
      if (dead.size === deaths) return result
    }
  }
}
