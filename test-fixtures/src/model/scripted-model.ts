import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { poll } from '../poll.ts'
import type { Reply } from './reply.ts'
import { modelRequest, type ModelRequest } from './request.ts'
import { sendReply } from './stream.ts'

/** A reply, or what finds one for a request. */
export type Script = Reply | ((request: ModelRequest) => Reply)
/** A part of the last user text, a pattern of it, or any condition. */
export type Match = string | RegExp | ((lastUserText: string, request: ModelRequest) => boolean)

export interface ScriptedModel {
  /** base_url of the provider. */
  readonly url: string
  readonly requests: readonly ModelRequest[]
  /** For matching requests, the first script first, the last one again and again. An earlier when() wins. */
  when(match: Match, ...scripts: readonly [Script, ...Script[]]): void
  /** One request each, in order, for requests that no when() matches. */
  reply(...scripts: readonly Script[]): void
  /** For everything else; "ok" until it is set. */
  always(script: Script): void
  /** Resolves to all requests once there are at least n. */
  waitForRequests(n: number): Promise<readonly ModelRequest[]>
  /** Breaks what is still open. */
  close(): Promise<void>
}

interface Route {
  readonly match: Match
  readonly scripts: readonly [Script, ...Script[]]
  used: number
}

/** A loopback HTTP server that answers POST /v1/responses as the test says. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const requests: ModelRequest[] = []
  const routes: Route[] = []
  const queue: Script[] = []
  let fallback: Script = { text: 'ok' }

  function replyTo(request: ModelRequest): Reply {
    const route = routes.find(({ match }) => matches(match, request))
    const script = route ? nextOf(route) : (queue.shift() ?? fallback)
    return typeof script === 'function' ? script(request) : script
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response, (body) => {
      const request = modelRequest(requests.length + 1, body, String(incoming.headers['thread-id'] ?? ''))
      requests.push(request)
      return replyTo(request)
    }).catch((error: unknown) => fail(response, error))
  })
  const port = await listen(server)

  return {
    url: `http://127.0.0.1:${String(port)}/v1`,
    requests,
    when: (match, ...scripts) => void routes.push({ match, scripts, used: 0 }),
    reply: (...scripts) => void queue.push(...scripts),
    always: (script) => {
      fallback = script
    },
    waitForRequests: (n) =>
      poll(() => requests.length >= n && requests, { what: `${String(n)} model requests` }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function matches(match: Match, request: ModelRequest): boolean {
  if (typeof match === 'function') return match(request.lastUserText, request)
  if (typeof match === 'string') return request.lastUserText.includes(match)
  return match.test(request.lastUserText)
}

function nextOf(route: Route): Script {
  const script = route.scripts[Math.min(route.used, route.scripts.length - 1)] ?? route.scripts[0]
  route.used += 1
  return script
}

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  replyTo: (body: unknown) => Reply,
): Promise<void> {
  const text = await readText(incoming)
  if (incoming.method === 'POST' && incoming.url === '/v1/responses') {
    await sendReply(response, replyTo(JSON.parse(text)))
  } else if (incoming.url?.startsWith('/v1/models'))
    sendJson(response, 200, { object: 'list', data: [], models: [] })
  else sendJson(response, 404, { error: { message: `nothing at ${String(incoming.url)}` } })
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk as Uint8Array))
  return Buffer.concat(chunks).toString()
}

/** A script that throws shows up as the error of the turn. */
function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy()
  else sendJson(response, 400, { error: { message: `the scripted model threw: ${String(error)}` } })
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (typeof address === 'object' && address) resolve(address.port)
    })
  })
}
