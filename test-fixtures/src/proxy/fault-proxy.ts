import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { poll } from '../poll.ts'
import { maxPayload, opened, unixWebSocket } from '../unix-websocket.ts'
import { joinSockets, type Link } from './link.ts'
import { type LoggedMessage, type MessageFilter, passes } from './message.ts'
import { type ActiveRule, createRule, type FaultAction, type FaultRule, type RuleFilter } from './rule.ts'

export interface FaultProxy {
  /** Where the bridge connects. */
  readonly socketPath: string
  /** Every message of every connection, in the order of arrival. */
  readonly log: readonly LoggedMessage[]
  /** Connections that are open now. */
  readonly openConnections: number
  /** Connections made so far. */
  readonly connections: number
  /** A fault for matching messages, once by default. Of several rules that match, the earliest one fires. */
  on(filter: RuleFilter, action: FaultAction): FaultRule
  /** The requests of a method that the client sent. */
  sent(method: string): readonly LoggedMessage[]
  /** The requests of a method that went to the server; one that was duplicated counts twice. */
  reached(method: string): readonly LoggedMessage[]
  /** The nth message that matches, past or future. */
  waitFor(filter: MessageFilter & { readonly nth?: number }): Promise<LoggedMessage>
  /** Ends all rules and releases what they keep; the log stays. */
  clear(): void
  /** Ends every open connection without a close frame. */
  cut(): void
  /** While true, a new connection is closed in the place of a handshake. */
  refuse(refused: boolean): void
  close(): Promise<void>
}

/** A WebSocket proxy between bridge and App Server that loses, delays, changes and answers messages by rule. */
export async function startFaultProxy(options: {
  readonly listen: string
  readonly target: string
}): Promise<FaultProxy> {
  const log: LoggedMessage[] = []
  const rules = new Set<ActiveRule>()
  const links: Link[] = []
  let refused = false

  function ruleFor(logged: LoggedMessage): ActiveRule | undefined {
    // Every rule counts every message, so filter first and choose then.
    return [...rules].filter((rule) => rule.offered(logged)).at(0)
  }
  const server = createServer((_, response) => response.writeHead(426).end())
  const webSockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload,
    skipUTF8Validation: true,
  })
  server.on('upgrade', (request, socket, head) => void accept(request, socket, head))

  async function accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const upstream = refused ? undefined : await reach(options.target)
    if (!upstream || socket.destroyed) {
      upstream?.terminate()
      socket.destroy()
      return
    }
    webSockets.handleUpgrade(request, socket, head, (client) => {
      const record = (logged: LoggedMessage) => void log.push(logged)
      links.push(joinSockets({ connection: links.length + 1, client, server: upstream, record, ruleFor }))
    })
  }
  function cut(): void {
    for (const link of links) link.cut()
  }
  function requests(method: string): LoggedMessage[] {
    return log.filter((logged) => logged.kind === 'request' && logged.method === method)
  }

  await listen(server, options.listen)
  return {
    socketPath: options.listen,
    log,
    get openConnections() {
      return links.filter(({ open }) => open).length
    },
    get connections() {
      return links.length
    },
    on(filter, action) {
      const rule = createRule(filter, action, () => rules.delete(rule))
      rules.add(rule)
      return rule
    },
    sent: requests,
    reached: (method) =>
      requests(method).flatMap((logged) => Array.from({ length: logged.deliveries }, () => logged)),
    waitFor: ({ nth = 1, ...filter }) =>
      poll(() => log.filter((logged) => passes(filter, logged))[nth - 1], {
        what: `message ${JSON.stringify(filter)}`,
      }),
    clear() {
      for (const rule of [...rules]) rule.remove()
    },
    cut,
    refuse(value) {
      refused = value
    },
    close: () =>
      new Promise((resolve) => {
        cut()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function reach(target: string) {
  try {
    const upstream = unixWebSocket(target)
    await opened(upstream)
    return upstream
  } catch {
    return undefined
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
}
