import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startFaultProxy, type FaultProxy, type World } from '@codex-thread-bridge/test-fixtures'
import type { Place } from './bridges.ts'

/** A way of its own to the App Server for one cell: proxy, socket path and state directory. */
export interface Lane extends Place {
  readonly proxy: FaultProxy
  /** Requests that may change something, of all its proxies so far. */
  mutations(): number
  /** After the App Server was started again: a new socket file, as the App Server's own would be. */
  relisten(): Promise<void>
  close(): Promise<void>
}

const READ = /\/(?:list|read|get)$|^initialize$/
let lanes = 0

export const openLane = async (world: World): Promise<Lane> => {
  const name = `l${(lanes += 1)}`
  const socketPath = join(world.home.path, `${name}.sock`)
  const stateDir = join(world.home.path, name)
  mkdirSync(stateDir, { mode: 0o700 })
  const listen = () => startFaultProxy({ listen: socketPath, target: world.appServer.socketPath })
  const proxies = [await listen()]
  const current = (): FaultProxy => {
    const proxy = proxies.at(-1)
    if (proxy === undefined) throw new Error('a lane has a proxy')
    return proxy
  }
  return {
    socketPath,
    stateDir,
    get proxy() {
      return current()
    },
    mutations: () =>
      proxies
        .flatMap(({ log }) => log)
        .filter(({ kind, method = '' }) => kind === 'request' && !READ.test(method)).length,
    relisten: async () => {
      await current().close()
      proxies.push(await listen())
    },
    close: () => current().close(),
  }
}
