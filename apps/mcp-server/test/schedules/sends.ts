import { at, type FaultProxy } from '@codex-thread-bridge/test-fixtures'

/** How often each method was sent with one delivery marker. */
export type Sends = ReadonlyMap<string, number>

/** Counts what bridges sent through the proxy, by delivery marker. */
export const countSends = (proxy: FaultProxy) => {
  const byMarker = new Map<string, Map<string, number>>()
  let read = proxy.log.length

  const count = (marker: unknown, method: string): void => {
    if (typeof marker !== 'string') return
    const sends = byMarker.get(marker) ?? new Map<string, number>()
    byMarker.set(marker, sends.set(method, (sends.get(method) ?? 0) + 1))
  }
  const catchUp = (): void => {
    for (const { kind, method, message } of proxy.log.slice(read)) {
      if (kind !== 'request' || method === undefined) continue
      count(at(message, 'params.threadSource') ?? at(message, 'params.clientUserMessageId'), method)
    }
    read = proxy.log.length
  }
  return {
    of(marker: string): Sends {
      catchUp()
      return byMarker.get(marker) ?? new Map<string, number>()
    },
    total(marker: string): number {
      return [...this.of(marker).values()].reduce((sum, n) => sum + n, 0)
    },
  }
}

/** More dispatches of one request than its tool may make; a steer that was refused is followed by one turn. */
export const sendsFault = (sends: Sends): string | undefined => {
  const often = [...sends].find(([, times]) => times > 1)
  if (often !== undefined) return `${often[0]} was sent ${often[1]} times`
  const messages = ['turn/start', 'turn/steer', 'thread/queue/add'].filter((method) => sends.has(method))
  return messages.length < 2 || messages.join() === 'turn/start,turn/steer'
    ? undefined
    : `sent as ${messages.join(' and ')}`
}
