import type { Stats } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import type { SocketDescription } from '../contract/app-server.ts'
import { TransportError, type ErrorCode } from '../contract/errors.ts'
import { longestAddress } from './socket-path.ts'

/** Why no WebSocket could be opened. Nothing was sent. */
export const socketFault = async (socket: SocketDescription, cause: unknown): Promise<TransportError> => {
  const [code, message] = await diagnose(socket, cause)
  return fault(code, message, socket, cause)
}

/** Neither the path nor what it leads to fits into an address. */
export const pathTooLong = (socket: SocketDescription): TransportError =>
  fault(
    'socket_path_too_long',
    `A Unix socket address holds ${longestAddress} bytes; ${measured(socket.configured)}` +
      (socket.resolved === socket.configured ? '.' : `, and where it leads, ${measured(socket.resolved)}.`),
    socket,
  )

/** The App Server accepted the connection and then said nothing for `ms`. */
export const silent = (socket: SocketDescription, ms: number): TransportError =>
  fault(
    'socket_silent',
    `${socket.configured} accepts connections, but nothing answered for ${ms} ms.`,
    socket,
  )

const diagnose = async (socket: SocketDescription, cause: unknown): Promise<[ErrorCode, string]> => {
  const path = socket.configured
  switch (errno(cause)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return ['socket_absent', await absence(path)]
    case 'ELOOP':
      return ['socket_absent', `${path} leads through links that go round in a circle.`]
    case 'EACCES':
    case 'EPERM':
      return ['socket_forbidden', `This user may not open ${path}.`]
    case 'ECONNREFUSED':
      return await refusal(path)
    case 'EAGAIN':
      return ['socket_silent', `${path} has a full queue of connections that nobody accepts.`]
    case 'EPROTOTYPE':
      return ['socket_not_websocket', `${path} is a socket of another kind.`]
    default:
      return ['socket_not_websocket', `${path} did not do a WebSocket handshake (${messageOf(cause)}).`]
  }
}

const absence = async (path: string): Promise<string> => {
  const isLink = await lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )
  return isLink ? `${path} is a link to a socket that is gone.` : `There is no socket at ${path}.`
}

/** A file that is no socket refuses in the same way as a socket without a listener. */
const refusal = async (path: string): Promise<[ErrorCode, string]> => {
  const found = await stat(path).catch(() => undefined)
  return found === undefined || found.isSocket()
    ? ['socket_stale', `Nobody listens on ${path}.`]
    : ['socket_wrong_type', `${path} is a ${kindOf(found)}, not a socket.`]
}

const kindOf = (found: Stats): string => {
  if (found.isDirectory()) return 'directory'
  return found.isFIFO() ? 'named pipe' : found.isFile() ? 'file' : 'device'
}

const fault = (
  code: ErrorCode,
  message: string,
  socket: SocketDescription,
  cause?: unknown,
): TransportError => new TransportError(code, message, 'not_sent', { details: { socket }, cause })

const measured = (path: string): string => `${path} has ${Buffer.byteLength(path)}`

const errno = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
