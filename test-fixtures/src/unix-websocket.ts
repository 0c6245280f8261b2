import { realpathSync } from 'node:fs'
import { connect } from 'node:net'
import { WebSocket } from 'ws'

/** The longest path that connect(2) takes for a Unix socket, in bytes. */
const longestSocketPath = 107
export const maxPayload = 256 * 1024 * 1024

/** A WebSocket over a Unix socket, without compression (0.153 hangs up on an offer), not yet open. */
export function unixWebSocket(socketPath: string): WebSocket {
  return new WebSocket('ws://localhost/', {
    perMessageDeflate: false,
    skipUTF8Validation: true,
    maxPayload,
    createConnection: () => connect(shortened(socketPath)),
  })
}

/** Newer App Servers accept longer paths: they leave a symlink to a short one. */
function shortened(socketPath: string): string {
  return Buffer.byteLength(socketPath) > longestSocketPath ? realpathSync(socketPath) : socketPath
}

/** Resolves when the handshake is done; rejects when it fails. */
export function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
}
