import { poll } from '../poll.ts'

export interface ToolCall {
  readonly name: string
  /** Given as JSON text to the agent. */
  readonly arguments: unknown
  /** "mcp__NAME" for a tool of an MCP server of the agent. */
  readonly namespace?: string
}
export type OutputItem = { readonly text: string } | { readonly toolCall: ToolCall }

/** What follows response.created. */
export type StreamedReply =
  | OutputItem
  | { readonly items: readonly OutputItem[] }
  /** The connection breaks after response.created, or after a first piece of text. */
  | { readonly cutAfter: 'created' | 'delta' }
  /** response.failed, for instance code "server_is_overloaded". */
  | { readonly failed: { readonly code: string; readonly message: string } }

export interface HttpFailure {
  readonly status: number
  readonly body?: unknown
}

export interface HeldReply {
  /** The beginning of the answer, streamed before the hold; a text that follows continues it. */
  readonly delta?: string
  /** Called for each request that gets this reply; resolves to what follows the hold. */
  hold(): Promise<StreamedReply>
  /** Resolves when a request is being held: its turn is active and stays so. */
  waitHeld(): Promise<void>
  /** Ends the hold of every request that got this reply, and of those that will. */
  release(reply?: StreamedReply): void
}

export type Reply = StreamedReply | HttpFailure | HeldReply

/** A reply that stays open, and its turn active, until release(); then it ends with `then` ("released" by default). */
export function holdReply(
  options: { readonly delta?: string; readonly then?: StreamedReply } = {},
): HeldReply {
  const { delta, then = { text: 'released' } } = options
  let held = false
  let settle: (reply: StreamedReply) => void = () => undefined
  const released = new Promise<StreamedReply>((resolve) => {
    settle = resolve
  })
  return {
    ...(delta !== undefined && { delta }),
    hold() {
      held = true
      return released
    },
    waitHeld: () => poll(() => held, { what: 'a request to be held' }).then(() => undefined),
    release: (reply = then) => settle(reply),
  }
}
