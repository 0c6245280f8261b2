import { stat } from 'node:fs/promises'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { ServerInfo, SocketDescription } from '../contract/app-server.ts'
import { TransportError } from '../contract/errors.ts'
import { appServerError } from './rpc-errors.ts'
import type { Outcome, Session } from './session.ts'
import { silent, socketFault } from './socket-fault.ts'

const Initialized = Compile(
  Type.Object({
    userAgent: Type.String(),
    codexHome: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
)

interface InitializeOptions {
  readonly socket: SocketDescription
  /** The bridge's. */
  readonly version: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Says who we are and asks for the experimental API (permissions, workspace roots, queue and settings need it).
 * @throws TransportError with delivery not_sent
 */
export const initialize = async (
  session: Session,
  { socket, version, timeoutMs, signal }: InitializeOptions,
): Promise<ServerInfo> => {
  const params = {
    clientInfo: { name: 'codex-thread-bridge', title: 'Codex Thread Bridge', version },
    capabilities: { experimentalApi: true },
  }
  const outcome = await session.request('initialize', params, { timeoutMs, signal })
  if (outcome.kind !== 'answered') throw refusal(outcome, socket, timeoutMs)
  if (!Initialized.Check(outcome.result)) {
    throw new TransportError('handshake_failed', 'initialize was answered in an unknown shape.', 'not_sent')
  }
  session.notify('initialized')
  const { userAgent, codexHome = null } = outcome.result
  return {
    userAgent,
    version: versionOf(userAgent),
    codexHome,
    socketMtimeNs: await mtimeOf(socket),
  }
}

/** `<client>/<version> (...)` */
const versionOf = (userAgent: string): string => /^[^/]*\/(\S+)/.exec(userAgent)?.[1] ?? 'unknown'

/**
 * When the server bound its socket: links are followed, since from 0.163 on the path is a link that outlives restarts.
 * Looked up after the handshake: at worst it names a server newer than ours, which never proves ours gone.
 */
const mtimeOf = async (socket: SocketDescription): Promise<string> => {
  try {
    const { mtimeNs } = await stat(socket.configured, { bigint: true })
    return String(mtimeNs)
  } catch (error) {
    throw await socketFault(socket, error)
  }
}

const refusal = (
  outcome: Exclude<Outcome, { kind: 'answered' }>,
  socket: SocketDescription,
  timeoutMs: number,
): TransportError => {
  if (outcome.kind === 'timed_out') return silent(socket, timeoutMs)
  if (outcome.kind === 'refused') {
    const { code } = appServerError('initialize', outcome.rpc)
    const passing = code === 'server_overloaded' || code === 'server_shutting_down'
    return new TransportError(
      passing ? code : 'handshake_failed',
      `initialize was refused: ${outcome.rpc.message}`,
      'not_sent',
      { details: { rpc: outcome.rpc } },
    )
  }
  return new TransportError('connection_lost', 'The connection ended during initialize.', 'not_sent')
}
