import { createConnection } from 'node:net'
import { WebSocket } from 'ws'
import type { SocketDescription } from '../contract/app-server.ts'
import { pathTooLong, socketFault } from './socket-fault.ts'
import { socketAddress } from './socket-path.ts'

/** The largest frame that is read: 64 MiB. */
export const longestFrame = 64 * 1024 * 1024
/** The largest message that is sent: 8 MiB. The App Server closes the connection at some 16 MiB, without a word. */
export const longestMessage = 8 * 1024 * 1024

/**
 * Opens a WebSocket over the App Server's Unix socket. An abort ends the attempt.
 * @throws TransportError with a socket_* code and delivery not_sent; the signal's reason when aborted
 */
export const openUnixSocket = async (socket: SocketDescription, signal: AbortSignal): Promise<WebSocket> => {
  const path = socketAddress(socket)
  if (path === undefined) throw pathTooLong(socket)
  try {
    return await opened(path, signal)
  } catch (error) {
    signal.throwIfAborted()
    throw await socketFault(socket, error)
  }
}

const opened = (path: string, signal: AbortSignal): Promise<WebSocket> =>
  new Promise((resolve, reject) => {
    const webSocket = new WebSocket('ws://localhost/', {
      createConnection: () => createConnection(path),
      maxPayload: longestFrame,
      // App Servers up to 0.154 hang up on a client that offers compression.
      perMessageDeflate: false,
      // Text that is not UTF-8 becomes one message that does not parse, in place of a lost connection.
      skipUTF8Validation: true,
    })
    const abort = () => webSocket.terminate()
    signal.addEventListener('abort', abort, { once: true })
    webSocket.once('open', () => {
      signal.removeEventListener('abort', abort)
      resolve(webSocket)
    })
    webSocket.on('error', reject)
    webSocket.once('close', () => signal.removeEventListener('abort', abort))
  })
