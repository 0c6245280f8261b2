import { fileURLToPath } from 'node:url'
import { BridgeError } from '@codex-thread-bridge/core/contract'
import { createHost } from '@codex-thread-bridge/core/host'
import { openLedger, Receipt } from '@codex-thread-bridge/core/ledger'
import type { Method } from '@codex-thread-bridge/core/protocol'
import { createAppServer } from '@codex-thread-bridge/core/transport'
import { createOperationsPlugin } from '@codex-thread-bridge/operations'
import { startMcpClient } from '@codex-thread-bridge/test-fixtures'
import { createThreadsPlugin } from '@codex-thread-bridge/threads'
import { Value } from 'typebox/value'

const SERVER = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** How a call ended for the one who made it. */
export type Answer =
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  | { readonly kind: 'error'; readonly code: string; readonly next: string; readonly message: string }
  /** The bridge was killed before it answered. */
  | { readonly kind: 'gone' }

export interface Bridge {
  ask(tool: string, args: Readonly<Record<string, unknown>>): Promise<Answer>
  /** SIGKILL, where there is a process. */
  kill(): Promise<void>
  close(): Promise<void>
}

export interface BridgeOptions {
  readonly socketPath: string
  readonly stateDir: string
  readonly timeouts?: Partial<Record<Method, number>>
}

/** The bridge's parts as the server composes them, in this process. */
export const hostBridge = async ({ socketPath, stateDir, timeouts }: BridgeOptions): Promise<Bridge> => {
  const appServer = createAppServer({
    socketPath,
    version: '0.0.0',
    log: () => undefined,
    ...(timeouts === undefined ? {} : { timeouts }),
  })
  const host = createHost({ appServer, ledger: () => openLedger({ stateDir, socketPath }) })
  host.register(createThreadsPlugin())
  host.register(createOperationsPlugin(host.operations, { version: '0.0.0', testedVersions: [] }))
  await host.ready()
  const close = (): Promise<void> => host.close()
  return {
    ask: async (tool, args) => {
      try {
        return { kind: 'receipt', receipt: Value.Parse(Receipt, await host.call(tool, args)) }
      } catch (error) {
        if (!BridgeError.is(error)) throw error
        return { kind: 'error', code: error.code, next: error.next, message: error.message }
      }
    },
    kill: close,
    close,
  }
}

/** The built server as a child. */
export const processBridge = async ({ socketPath, stateDir }: BridgeOptions): Promise<Bridge> => {
  const child = await startMcpClient({
    command: process.execPath,
    args: [SERVER, '--socket', socketPath, '--state-dir', stateDir],
  })
  let alive = true
  return {
    ask: async (tool, args) => {
      try {
        const { structured, error, text } = await child.call(tool, args, { timeoutMs: 120_000 })
        if (error !== undefined)
          return { kind: 'error', code: error.code, next: error.next ?? '', message: error.message }
        if (structured === undefined) throw new Error(`no receipt: ${text}`)
        return { kind: 'receipt', receipt: Value.Parse(Receipt, structured) }
      } catch (error) {
        if (alive) throw error
        return { kind: 'gone' }
      }
    },
    kill: async () => {
      alive = false
      await child.kill()
    },
    close: async () => {
      alive = false
      await child.close()
    },
  }
}
