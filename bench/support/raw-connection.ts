import { at, textAt } from '@codex-thread-bridge/test-fixtures'
import { WebSocket } from 'ws'

export type Listener = (method: string, params: unknown) => void

/** The least that speaks to an App Server: a WebSocket, JSON, and who waits for which answer. */
export interface RawConnection {
  /** The result; rejects with the App Server's error, or when the connection ends. */
  call(method: string, params: object): Promise<unknown>
  /** Hears every notification at once. Returns how to stop. */
  listen(listener: Listener): () => void
  close(): Promise<void>
}

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

export const openRawConnection = async (socketPath: string): Promise<RawConnection> => {
  const socket = new WebSocket(`ws+unix:${socketPath}:/`, { perMessageDeflate: false, maxPayload: 2 ** 26 })
  const waiting = new Map<unknown, Waiting>()
  const listeners = new Set<Listener>()
  const closed = new Promise<void>((resolve) => socket.once('close', resolve))
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject))

  socket.on('error', () => undefined)
  socket.on('close', () => waiting.forEach((call) => call.reject(new Error('connection closed'))))
  socket.on('message', (data: Buffer) => {
    const message: unknown = JSON.parse(data.toString())
    const call = waiting.get(at(message, 'id'))
    if (call === undefined) return tell(listeners, message)
    waiting.delete(at(message, 'id'))
    const error = at(message, 'error')
    if (error === undefined) call.resolve(at(message, 'result'))
    else call.reject(new Error(JSON.stringify(error)))
  })

  let id = 0
  const call = (method: string, params: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      id += 1
      waiting.set(id, { resolve, reject })
      socket.send(JSON.stringify({ id, method, params }))
    })
  await call('initialize', {
    clientInfo: { name: 'bench', title: 'Bench', version: '0.0.0' },
    capabilities: { experimentalApi: true },
  })
  socket.send(JSON.stringify({ method: 'initialized' }))
  return {
    call,
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: async () => {
      socket.close()
      await closed
    },
  }
}

/** Requests of the server are told too; nobody here answers them. */
const tell = (listeners: ReadonlySet<Listener>, message: unknown): void => {
  for (const listener of listeners) listener(textAt(message, 'method'), at(message, 'params'))
}

/** Resolves at the first notification that matches, from now on. */
export const heard = (
  connection: RawConnection,
  matches: (method: string, params: unknown) => boolean,
): Promise<void> =>
  new Promise((resolve) => {
    const stop = connection.listen((method, params) => {
      if (!matches(method, params)) return
      stop()
      resolve()
    })
  })
