import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { HeldReply, HttpFailure, OutputItem, Reply, StreamedReply, ToolCall } from './reply.ts'

/** The beginning of a message that was streamed before its end was known. */
interface OpenMessage {
  readonly id: string
  readonly text: string
}

/** Answers one model request; resolves when the answer is over. */
export async function sendReply(response: ServerResponse, reply: Reply): Promise<void> {
  if ('status' in reply) return sendFailure(response, reply)
  const id = `resp_${randomUUID()}`
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  sendEvent(response, 'response.created', { response: { id } })
  if ('hold' in reply) await sendHeld(response, id, reply)
  else await sendStreamed(response, id, reply)
}

async function sendHeld(response: ServerResponse, id: string, held: HeldReply): Promise<void> {
  const open = held.delta === undefined ? undefined : beginMessage(response, 0, held.delta)
  const rest = await held.hold()
  if (!response.destroyed) await sendStreamed(response, id, rest, open)
}

async function sendStreamed(
  response: ServerResponse,
  id: string,
  reply: StreamedReply,
  open?: OpenMessage,
): Promise<void> {
  if ('cutAfter' in reply) return cut(response, reply.cutAfter)
  if ('failed' in reply) {
    sendEvent(response, 'response.failed', { response: { id, status: 'failed', error: reply.failed } })
  } else {
    const items = 'items' in reply ? reply.items : [reply]
    items.forEach((item, index) => sendItem(response, index, item, index === 0 ? open : undefined))
    sendEvent(response, 'response.completed', { response: { id, usage } })
  }
  response.end()
}

const usage = {
  input_tokens: 10,
  input_tokens_details: null,
  output_tokens: 5,
  output_tokens_details: null,
  total_tokens: 15,
}

function sendItem(response: ServerResponse, index: number, item: OutputItem, open?: OpenMessage): void {
  const done = 'text' in item ? sendMessage(response, index, item.text, open) : functionCall(item.toolCall)
  sendEvent(response, 'response.output_item.done', { output_index: index, item: done })
}

function sendMessage(response: ServerResponse, index: number, text: string, open?: OpenMessage): unknown {
  const { id, text: begun } = open ?? beginMessage(response, index)
  sendDelta(response, index, id, text)
  return message(id, [{ type: 'output_text', text: begun + text }])
}

function beginMessage(response: ServerResponse, index: number, text = ''): OpenMessage {
  const id = `msg_${randomUUID()}`
  sendEvent(response, 'response.output_item.added', { output_index: index, item: message(id, []) })
  if (text !== '') sendDelta(response, index, id, text)
  return { id, text }
}

function sendDelta(response: ServerResponse, index: number, itemId: string, delta: string): void {
  sendEvent(response, 'response.output_text.delta', { output_index: index, item_id: itemId, delta })
}

function message(id: string, content: readonly unknown[]): unknown {
  return { type: 'message', role: 'assistant', id, content }
}

function functionCall({ name, arguments: args, namespace }: ToolCall): unknown {
  const ids = { id: `fc_${randomUUID()}`, call_id: `call_${randomUUID()}` }
  return {
    type: 'function_call',
    ...ids,
    name,
    arguments: JSON.stringify(args),
    ...(namespace && { namespace }),
  }
}

async function cut(response: ServerResponse, after: 'created' | 'delta'): Promise<void> {
  if (after === 'delta') beginMessage(response, 0, 'cut')
  // What was written must leave before the socket goes.
  await new Promise((resolve) => response.write(': cut\n\n', resolve))
  response.destroy()
}

function sendEvent(response: ServerResponse, type: string, fields: object): void {
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
}

function sendFailure(
  response: ServerResponse,
  { status, body = { error: { message: `scripted ${String(status)}` } } }: HttpFailure,
) {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
