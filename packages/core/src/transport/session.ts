import type { WebSocket } from 'ws'
import type { ServerNotification } from '../contract/app-server.ts'
import type { RpcErrorBody } from '../contract/errors.ts'
import type { Clock, Log } from '../contract/tool.ts'
import { guarded } from './fan-out.ts'
import { memberOf, parseMessage, type MessageId, type ServerMessage } from './messages.ts'
import { longestMessage } from './unix-socket.ts'

/** How a request ended. */
export type Outcome =
  | { readonly kind: 'answered'; readonly result: unknown }
  | { readonly kind: 'refused'; readonly rpc: RpcErrorBody }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'cancelled' }
  /** The session had ended before. */
  | { readonly kind: 'not_sent' }
  /** Over 8 MiB: not sent. */
  | { readonly kind: 'too_large'; readonly bytes: number }
  /** The session ended before the answer. `alone`: no other answer was still to come. */
  | { readonly kind: 'lost'; readonly frameTooLong: boolean; readonly alone: boolean }

export interface RequestOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** An answer after the time-out. */
  readonly onLateAnswer?: ((result: unknown) => void) | undefined
}

/** One open WebSocket to the App Server, from its handshake to its end. */
export interface Session {
  readonly open: boolean
  request(method: string, params: object, options: RequestOptions): Promise<Outcome>
  notify(method: string): void
  /** Says goodbye, and hangs up after `graceMs` without a reply. Requests that wait are lost. */
  close(graceMs: number): Promise<void>
}

export interface SessionOptions {
  readonly clock: Clock
  readonly log: Log
  /** Of the client, not of the session: an id is never used again. */
  readonly nextId: () => number
  readonly onNotification: (notification: ServerNotification) => void
  readonly onEnd: (end: { readonly waiting: number; readonly frameTooLong: boolean }) => void
}

export const createSession = (webSocket: WebSocket, options: SessionOptions): Session => {
  const { clock, log, nextId } = options
  const waiting = new Map<MessageId, (outcome: Outcome) => void>()
  /** Timed out or cancelled; an answer may still come. */
  const givenUp = new Map<MessageId, RequestOptions['onLateAnswer']>()
  const dropped = { binary: 0, unparsable: 0, unknownId: 0 }
  let frameTooLong = false

  const drop = (reason: keyof typeof dropped, bytes?: number): void => {
    dropped[reason] += 1
    log('warn', 'transport.message_dropped', { reason, count: dropped[reason], bytes })
  }

  const send = (message: object): void => webSocket.send(JSON.stringify(message))

  const lateAnswer = (message: ServerMessage & { id: MessageId }): void => {
    const take = givenUp.get(message.id)
    givenUp.delete(message.id)
    log('info', 'transport.late_answer', { refused: message.kind === 'refusal' })
    if (message.kind === 'answer' && take !== undefined) guarded(log, () => take(message.result))
  }

  const receive = (message: ServerMessage): void => {
    switch (message.kind) {
      case 'notification':
        return options.onNotification(message.notification)
      case 'request':
        return respond(message.id, message.method, message.params)
      case 'answer':
      case 'refusal': {
        const end = waiting.get(message.id)
        if (end === undefined) return givenUp.has(message.id) ? lateAnswer(message) : drop('unknownId')
        end(
          message.kind === 'answer'
            ? { kind: 'answered', result: message.result }
            : { kind: 'refused', rpc: message.rpc },
        )
      }
    }
  }

  /** An error answer would be a rejection, which changes the task: what is about a thread waits for a client with a person. */
  const respond = (id: MessageId, method: string, params: unknown): void => {
    const aboutThread = memberOf(params, 'threadId') ?? memberOf(params, 'conversationId')
    log('info', 'transport.server_request', { method, answered: aboutThread === undefined })
    if (aboutThread !== undefined) return
    send({ id, error: { code: -32601, message: `codex-thread-bridge does not support ${method}` } })
  }

  webSocket.on('message', (data: Buffer, isBinary: boolean) => {
    const message = isBinary ? undefined : parseMessage(data.toString())
    if (message === undefined) drop(isBinary ? 'binary' : 'unparsable', data.length)
    else receive(message)
  })
  webSocket.on('error', (error: Error & { code?: unknown }) => {
    frameTooLong = error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
    webSocket.terminate()
  })
  webSocket.once('close', () => {
    const ends = [...waiting.values()]
    const alone = ends.length === 1 && givenUp.size === 0
    for (const end of ends) end({ kind: 'lost', frameTooLong, alone })
    givenUp.clear()
    options.onEnd({ waiting: ends.length, frameTooLong })
  })

  const request = (
    method: string,
    params: object,
    { timeoutMs, signal, onLateAnswer }: RequestOptions,
  ): Promise<Outcome> => {
    if (signal?.aborted === true) return Promise.resolve({ kind: 'cancelled' })
    const id = nextId()
    const text = JSON.stringify({ id, method, params })
    const bytes = Buffer.byteLength(text)
    if (bytes > longestMessage) return Promise.resolve({ kind: 'too_large', bytes })
    if (webSocket.readyState !== webSocket.OPEN) return Promise.resolve({ kind: 'not_sent' })
    return new Promise((resolve) => {
      const ended = new AbortController()
      const end = (outcome: Outcome): void => {
        if (!waiting.delete(id)) return
        ended.abort()
        signal?.removeEventListener('abort', cancel)
        resolve(outcome)
      }
      const giveUp = (outcome: Outcome, late?: RequestOptions['onLateAnswer']): void => {
        if (waiting.has(id)) givenUp.set(id, late)
        end(outcome)
      }
      const cancel = (): void => giveUp({ kind: 'cancelled' })
      waiting.set(id, end)
      signal?.addEventListener('abort', cancel, { once: true })
      clock.sleep(timeoutMs, ended.signal).then(
        () => giveUp({ kind: 'timed_out' }, onLateAnswer),
        () => undefined,
      )
      webSocket.send(text)
    })
  }

  const close = async (graceMs: number): Promise<void> => {
    if (webSocket.readyState === webSocket.CLOSED) return
    const closed = new Promise<void>((resolve) => webSocket.once('close', () => resolve()))
    const ended = new AbortController()
    webSocket.close(1000)
    clock.sleep(graceMs, ended.signal).then(
      () => webSocket.terminate(),
      () => undefined,
    )
    await closed
    ended.abort()
  }

  return {
    get open() {
      return webSocket.readyState === webSocket.OPEN
    },
    request,
    notify: (method) => send({ method }),
    close,
  }
}
