import type { Method, Params, Result } from '../protocol/methods.ts'

/** A message that the App Server sends by itself. */
export interface ServerNotification {
  readonly method: string
  readonly params: unknown
}

/** What the handshake told, and when the socket file was made (it changes when the server is restarted). */
export interface ServerInfo {
  readonly userAgent: string
  readonly version: string
  readonly codexHome: string | null
  readonly socketMtimeNs: string
}

export interface ConnectionCallOptions<M extends Method> {
  /** Ends the wait, not the call: what was sent was sent. */
  readonly signal?: AbortSignal
  /** An answer that comes after the time-out was reported, while the connection lives. */
  readonly onLateAnswer?: (answer: Result<M>) => void
}

/** One logical connection: opened lazily, opened again after a loss. */
export interface Connection {
  /**
   * Sends one request and awaits its answer, checked against the method table.
   * @throws TransportError (no answer; `delivery` says whether it left), AppServerError (an error answer)
   */
  call<M extends Method>(method: M, params: Params<M>, options?: ConnectionCallOptions<M>): Promise<Result<M>>
  /** Opens the connection if there is none. @throws TransportError with delivery not_sent */
  connect(): Promise<ServerInfo>
  /** What the last handshake told; undefined before the first. */
  readonly server: ServerInfo | undefined
  /** Every notification of this connection, in order. Returns the unsubscribe. */
  onNotification(listener: (notification: ServerNotification) => void): () => void
  /** Called after each loss of the connection. Returns the unsubscribe. */
  onDisconnect(listener: () => void): () => void
}

/** Where the App Server is. */
export interface SocketDescription {
  readonly configured: string
  readonly resolved: string
}

/** An App Server as the host sees it. Reads outside mutations have a connection of their own. */
export interface AppServer {
  readonly reads: Connection
  readonly actions: Connection
  readonly socket: SocketDescription
  /** Which of these methods the server lacks (probed once a connection). @throws TransportError */
  missingMethods(needed: readonly Method[]): Promise<readonly Method[]>
  close(): Promise<void>
}
