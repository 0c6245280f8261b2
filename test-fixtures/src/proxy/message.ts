import { isObject } from '../json.ts'

export type Direction = 'to-server' | 'to-client'
/** request: of the client; server-request: of the server; other: not a JSON-RPC message. */
export type MessageKind = 'request' | 'response' | 'notification' | 'server-request' | 'other'
export type MessageId = string | number

export interface LoggedMessage {
  /** Milliseconds since the epoch, when it came in. */
  readonly at: number
  /** 1 for the first connection to this proxy. */
  readonly connection: number
  readonly direction: Direction
  readonly kind: MessageKind
  /** Of a response: the method of the request that it answers. */
  readonly method: string | undefined
  readonly id: MessageId | undefined
  /** The parsed JSON; the text itself if it is none. */
  readonly message: unknown
  /** What was done with it: "forward", a fault's name, or "lost" after a cut. */
  readonly action: string
  /** How often the other side has been sent it so far. */
  readonly deliveries: number
}

/** Every given member must hold. */
export interface MessageFilter {
  readonly direction?: Direction
  readonly kind?: MessageKind
  readonly method?: string
  readonly connection?: number
  readonly match?: (message: unknown) => boolean
}

export function passes(filter: MessageFilter, logged: LoggedMessage): boolean {
  return (
    (filter.direction === undefined || filter.direction === logged.direction) &&
    (filter.kind === undefined || filter.kind === logged.kind) &&
    (filter.method === undefined || filter.method === logged.method) &&
    (filter.connection === undefined || filter.connection === logged.connection) &&
    (filter.match === undefined || filter.match(logged.message))
  )
}

export type Classified = Pick<LoggedMessage, 'kind' | 'method' | 'id' | 'message'>
export type Classify = (direction: Direction, text: string) => Classified

/** Tells messages of one connection apart; it remembers the requests, to name the method of a response. */
export function createClassifier(): Classify {
  const asked: Record<Direction, Map<MessageId, string>> = { 'to-server': new Map(), 'to-client': new Map() }

  return (direction, text) => {
    const message = parsed(text)
    if (!isObject(message)) return { kind: 'other', method: undefined, id: undefined, message }
    const id = typeof message.id === 'string' || typeof message.id === 'number' ? message.id : undefined
    const method = typeof message.method === 'string' ? message.method : undefined
    if (method !== undefined && id === undefined) return { kind: 'notification', method, id, message }
    if (method !== undefined && id !== undefined) {
      asked[direction].set(id, method)
      return { kind: direction === 'to-server' ? 'request' : 'server-request', method, id, message }
    }
    if (id === undefined) return { kind: 'other', method, id, message }
    const asker = direction === 'to-client' ? 'to-server' : 'to-client'
    return { kind: 'response', method: asked[asker].get(id), id, message }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
