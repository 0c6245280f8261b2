import type { World } from '@codex-thread-bridge/test-fixtures'

/** Counts the requests that go through a world's proxy from now on, the handshake of a connection left out. */
export const countCalls = ({ proxy }: World): (() => number) => {
  let seen = proxy.log.length
  return () => {
    const since = proxy.log.slice(seen)
    seen = proxy.log.length
    return since.filter(({ kind, method }) => kind === 'request' && method !== 'initialize').length
  }
}
