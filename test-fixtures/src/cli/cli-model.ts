import type { ServerResponse } from 'node:http'
import { at, listAt } from '../json.ts'
import { poll } from '../poll.ts'
import { startLoopback } from './loopback.ts'

/** What a model answers one request of a CLI with. */
export type CliReply =
  | { readonly text: string }
  /** A use of the CLI's shell tool. */
  | { readonly shell: string }
  | { readonly status: number; readonly message: string }

export interface CliModel {
  /** What the CLI is told to talk to. */
  readonly url: string
  /** The bodies of the requests for an answer, those for a title left out. */
  readonly requests: readonly unknown[]
  /** One request each, in order; "ok" when there are no more. */
  reply(...replies: readonly CliReply[]): void
  /** Requests wait until release(). */
  hold(): void
  release(): void
  close(): Promise<void>
}

type Send = (response: ServerResponse, reply: CliReply, body: unknown, number: number) => void

/** A scripted model of Anthropic's messages API, for Claude Code. */
export const startMessagesModel = (): Promise<CliModel> => startCliModel('/v1/messages', sendMessage)

/** A scripted model of the chat completions API, for OpenCode. */
export const startChatModel = (): Promise<CliModel> => startCliModel('/v1/chat/completions', sendCompletion)

async function startCliModel(path: string, send: Send): Promise<CliModel> {
  const requests: unknown[] = []
  const queue: CliReply[] = []
  let held = false
  const server = await startLoopback(async (incoming, body, response) => {
    const [asked] = (incoming.url ?? '').split('?')
    if (incoming.method !== 'POST' || asked !== path)
      return sendJson(response, incoming.method === 'HEAD' ? 200 : 404, {})
    // CLIs ask for titles and the like without tools: such requests are no part of the script.
    const tools = at(body, 'tools')
    if (!Array.isArray(tools) || tools.length === 0) return send(response, { text: 'A title' }, body, 0)
    const reply = queue.shift() ?? { text: 'ok' }
    const number = requests.push(body)
    await poll(() => !held, { timeoutMs: 120_000, what: 'the release of a model' })
    if (response.destroyed) return
    if ('status' in reply)
      sendJson(response, reply.status, { type: 'error', error: { type: 'scripted', message: reply.message } })
    else send(response, reply, body, number)
  })
  return {
    url: server.url,
    requests,
    reply: (...replies) => void queue.push(...replies),
    hold: () => void (held = true),
    release: () => void (held = false),
    close: () => server.close(),
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function sendMessage(response: ServerResponse, reply: CliReply, body: unknown, number: number): void {
  const tool = 'shell' in reply
  const content = tool
    ? {
        type: 'tool_use',
        id: `toolu_${String(number)}`,
        name: 'Bash',
        input: { command: reply.shell, description: 'Run it' },
      }
    : { type: 'text', text: 'text' in reply ? reply.text : '' }
  const stop_reason = tool ? 'tool_use' : 'end_turn'
  const usage = { input_tokens: 10, output_tokens: 3 }
  const message = {
    id: `msg_${String(number)}`,
    type: 'message',
    role: 'assistant',
    model: at(body, 'model'),
    stop_sequence: null,
  }
  if (at(body, 'stream') !== true)
    return sendJson(response, 200, { ...message, content: [content], stop_reason, usage })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const event = (type: string, fields: object): void =>
    void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
  event('message_start', {
    message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 0 } },
  })
  event('content_block_start', {
    index: 0,
    content_block: tool ? { ...content, input: {} } : { type: 'text', text: '' },
  })
  event('content_block_delta', {
    index: 0,
    delta: tool
      ? {
          type: 'input_json_delta',
          partial_json: JSON.stringify({ command: reply.shell, description: 'Run it' }),
        }
      : { type: 'text_delta', text: 'text' in reply ? reply.text : '' },
  })
  event('content_block_stop', { index: 0 })
  event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 3 } })
  event('message_stop', {})
  response.end()
}

function sendCompletion(response: ServerResponse, reply: CliReply, body: unknown, number: number): void {
  const tool = 'shell' in reply
  const delta = tool
    ? {
        role: 'assistant',
        tool_calls: [
          {
            index: 0,
            id: `call_${String(number)}`,
            type: 'function',
            function: {
              name: 'bash',
              arguments: JSON.stringify({ command: reply.shell, description: 'Run it' }),
            },
          },
        ],
      }
    : { role: 'assistant', content: 'text' in reply ? reply.text : '' }
  const finish_reason = tool ? 'tool_calls' : 'stop'
  const chunk = {
    id: `chatcmpl-${String(number)}`,
    object: 'chat.completion.chunk',
    created: 1,
    model: at(body, 'model'),
  }
  const usage = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (data: object): void =>
    void response.write(`data: ${JSON.stringify({ ...chunk, ...data })}\n\n`)
  send({ choices: [{ index: 0, delta, finish_reason: null }] })
  send({ choices: [{ index: 0, delta: {}, finish_reason }], usage })
  response.end('data: [DONE]\n\n')
}

/** The texts of the last user message of a request, in either API's shape. */
export function lastUserText(request: unknown): string {
  const message = listAt(request, 'messages').findLast((each) => at(each, 'role') === 'user')
  const content = at(message, 'content')
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map(textOfPart).join('\n') : ''
}

function textOfPart(part: unknown): string {
  const text = at(part, 'text')
  return typeof text === 'string' ? text : ''
}
