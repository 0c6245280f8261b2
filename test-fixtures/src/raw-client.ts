import type { WebSocket } from 'ws'
import { at, isObject, listAt, textAt } from './json.ts'
import { poll } from './poll.ts'
import { opened, unixWebSocket } from './unix-websocket.ts'

export interface ServerMessage {
  readonly method: string
  readonly params: unknown
}
export interface ServerRequest extends ServerMessage {
  readonly id: string | number
}
export interface WaitOptions {
  /** Look only at what came after the first `from` notifications. */
  readonly from?: number
  readonly timeoutMs?: number
}

export interface RawClient {
  /** Everything the server sent without being asked, in order. */
  readonly notifications: readonly ServerMessage[]
  /** Approvals and other requests of the server; none is answered but by respond(). */
  readonly serverRequests: readonly ServerRequest[]
  /** The JSON-RPC result, unparsed; rejects with RpcError, after 30 s, or when the connection closes. */
  call(method: string, params?: unknown): Promise<unknown>
  respond(id: string | number, result: unknown): void
  /** The first notification, past or future, that matches (a text: of that method). */
  waitFor(
    match: string | ((message: ServerMessage) => boolean),
    options?: WaitOptions,
  ): Promise<ServerMessage>
  waitForRequest(method: string): Promise<ServerRequest>
  /** thread/start; the id of the new thread. Read-only and never asking unless params say otherwise. */
  startThread(params?: Readonly<Record<string, unknown>>): Promise<string>
  /** turn/start with one text; the id of the turn. */
  startTurn(threadId: string, text: string, params?: Readonly<Record<string, unknown>>): Promise<string>
  /** turn/start, then its end (the connection must have started or resumed the thread): turn/completed's turn. */
  runTurn(threadId: string, text: string, params?: Readonly<Record<string, unknown>>): Promise<unknown>
  /** The thread's userMessage and agentMessage texts, oldest first: what the App Server holds as true. */
  transcript(threadId: string): Promise<readonly string[]>
  close(): Promise<void>
}

/** A JSON-RPC error answered by the App Server. */
export class RpcError extends Error {
  readonly code: unknown
  readonly data: unknown
  constructor(method: string, error: unknown) {
    super(`${method}: ${String(at(error, 'message'))}`)
    this.name = 'RpcError'
    this.code = at(error, 'code')
    this.data = at(error, 'data')
  }
}

interface Pending {
  readonly method: string
  resolve(result: unknown): void
  reject(error: Error): void
}

const callMs = 30_000

/** Another client of the same App Server: connects, initializes with experimentalApi, and reads everything. */
export async function openRawClient(socketPath: string): Promise<RawClient> {
  const socket = unixWebSocket(socketPath)
  await opened(socket)
  const notifications: ServerMessage[] = []
  const serverRequests: ServerRequest[] = []
  const pending = new Map<number, Pending>()
  const closed = closing(socket, pending)
  let nextId = 0

  socket.on('message', (data: Buffer) =>
    receive(JSON.parse(data.toString()), pending, notifications, serverRequests),
  )

  function call(method: string, params: unknown = {}): Promise<unknown> {
    nextId += 1
    return request(socket, pending, { id: nextId, method, params })
  }
  function waitFor(match: string | ((message: ServerMessage) => boolean), options: WaitOptions = {}) {
    const { from = 0, ...rest } = options
    const matches = typeof match === 'string' ? ({ method }: ServerMessage) => method === match : match
    return poll(() => notifications.slice(from).find(matches), {
      what: `notification ${String(match)}`,
      ...rest,
    })
  }
  async function startTurn(threadId: string, text: string, params = {}): Promise<string> {
    const input = [{ type: 'text', text, text_elements: [] }]
    return textAt(await call('turn/start', { threadId, input, ...params }), 'turn.id')
  }
  async function runTurn(threadId: string, text: string, params = {}): Promise<unknown> {
    const turnId = await startTurn(threadId, text, params)
    const ended = await waitFor((n) => n.method === 'turn/completed' && at(n.params, 'turn.id') === turnId)
    return at(ended.params, 'turn')
  }

  await call('initialize', {
    clientInfo: { name: 'raw-client', title: 'Raw client', version: '0.0.0' },
    capabilities: { experimentalApi: true },
  })
  socket.send(JSON.stringify({ method: 'initialized' }))

  return {
    notifications,
    serverRequests,
    call,
    respond: (id, result) => socket.send(JSON.stringify({ id, result })),
    waitFor,
    waitForRequest: (method) =>
      poll(() => serverRequests.find((request) => request.method === method), {
        what: `server request ${method}`,
      }),
    startThread: async (params = {}) =>
      textAt(
        await call('thread/start', { sandbox: 'read-only', approvalPolicy: 'never', ...params }),
        'thread.id',
      ),
    startTurn,
    runTurn,
    transcript: async (threadId) => texts(await call('thread/items/list', { threadId, limit: 100 })),
    async close() {
      socket.close()
      setTimeout(() => socket.terminate(), 500).unref()
      await closed
    },
  }
}

function request(
  socket: WebSocket,
  pending: Map<number, Pending>,
  message: { id: number; method: string; params: unknown },
): Promise<unknown> {
  const { id, method } = message
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${method}: no answer within ${String(callMs)} ms`)),
      callMs,
    )
    const settle = () => {
      clearTimeout(timer)
      pending.delete(id)
    }
    pending.set(id, {
      method,
      resolve: (result) => (settle(), resolve(result)),
      reject: (error) => (settle(), reject(error)),
    })
    socket.send(JSON.stringify(message), (error) => error && pending.get(id)?.reject(error))
  })
}

function receive(
  message: unknown,
  pending: ReadonlyMap<number, Pending>,
  notifications: ServerMessage[],
  serverRequests: ServerRequest[],
): void {
  if (!isObject(message)) return
  const { id, method, params, result, error } = message
  if (typeof method !== 'string') {
    const call = typeof id === 'number' ? pending.get(id) : undefined
    if (error === undefined) call?.resolve(result)
    else call?.reject(new RpcError(call.method, error))
  } else if (typeof id === 'string' || typeof id === 'number') serverRequests.push({ id, method, params })
  else notifications.push({ method, params })
}

function closing(socket: WebSocket, pending: ReadonlyMap<number, Pending>): Promise<void> {
  return new Promise((resolve) => {
    // Without a listener a lost connection would end the process; 'close' follows and tells the callers.
    socket.on('error', () => undefined)
    socket.once('close', () => {
      for (const call of [...pending.values()]) call.reject(new Error(`${call.method}: connection closed`))
      resolve()
    })
  })
}

function texts(page: unknown): string[] {
  return listAt(page, 'data').flatMap((entry) => {
    const item = at(entry, 'item') ?? entry
    if (at(item, 'type') === 'agentMessage') return [textAt(item, 'text')]
    if (at(item, 'type') !== 'userMessage') return []
    return listAt(item, 'content').flatMap((part) =>
      at(part, 'type') === 'text' ? [textAt(part, 'text')] : [],
    )
  })
}
