import type { Readable, Writable } from 'node:stream'
import { asBridgeError, type BridgeError, type Log } from '@codex-thread-bridge/core/contract'
import type { Host } from '@codex-thread-bridge/core/host'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import {
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { callerOf } from './caller.ts'
import { InFlight } from './in-flight.ts'
import { throttledProgress, type Progress } from './progress.ts'
import { toMcpError, toMcpResult } from './to-mcp-result.ts'
import { toMcpTool } from './to-mcp-tool.ts'

/** How long calls in flight may take to be answered once the client has closed its end. */
const ANSWERS_MS = 5_000
/** What is left of them after the host is closed has nothing to wait for. */
const LAST_ANSWERS_MS = 500

export interface ServeOptions {
  readonly name: string
  readonly title: string
  readonly version: string
  /** What every client puts in front of its model; at most 2,000 characters. */
  readonly instructions: string
  readonly log?: Log
  /** process.stdin by default. */
  readonly input?: Readable
  /** process.stdout by default. */
  readonly output?: Writable
  /** When the shutdown begins, once: why. */
  readonly onClose?: (reason: CloseReason) => void
}

/** `stopped` is our own wish (a signal); everything else comes from the client. */
export type CloseReason = 'input_ended' | 'transport_closed' | 'output_failed' | 'stopped'

export interface Serving {
  /** Resolves when the one shutdown is over: calls answered, mutations saved, host and transport closed. */
  readonly closed: Promise<void>
  /** Begins the shutdown, or hastens it: reads in flight are given up, running mutations still save (5 s). */
  stop(): void
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

const progressOf = ({ _meta, sendNotification }: Extra): Progress | undefined => {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return undefined
  return throttledProgress((progress, message) => {
    const params = { progressToken, progress, message }
    sendNotification({ method: 'notifications/progress', params }).catch(() => undefined)
  })
}

/** Frames only: the first line of a stack is the message, which may quote an argument. */
const framesOf = ({ cause }: BridgeError): readonly string[] =>
  cause instanceof Error ? (cause.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : []

/** Arguments of any shape: what is wrong with them is for the tool to say, in its own words. */
const toolCall = Compile(
  Type.Object({
    name: Type.String(),
    arguments: Type.Optional(Type.Unknown()),
    _meta: Type.Optional(Type.Unknown()),
  }),
)

const callTool = async (host: Host, log: Log, params: unknown, extra: Extra): Promise<CallToolResult> => {
  if (!toolCall.Check(params))
    throw new McpError(ErrorCode.InvalidParams, 'tools/call needs the name of a tool')
  const { name } = params
  if (!host.has(name)) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name}`)
  const progress = progressOf(extra)
  try {
    const answer = await host.call(name, params.arguments ?? {}, {
      signal: extra.signal,
      caller: callerOf(params._meta),
      ...(progress === undefined ? {} : { progress: (message: string) => progress.report(message) }),
    })
    return toMcpResult(answer)
  } catch (thrown) {
    const error = asBridgeError(thrown)
    log(error.code === 'internal' ? 'error' : 'info', 'call_failed', {
      tool: name,
      code: error.code,
      ...(error.code === 'internal' ? { frames: framesOf(error) } : {}),
    })
    return toMcpError(error)
  } finally {
    progress?.end()
  }
}

/** Serves a host that is ready over MCP on stdio, until the client goes or stop() is called. */
export const serveStdio = async (host: Host, options: ServeOptions): Promise<Serving> => {
  const { name, title, version, instructions, log = () => undefined, onClose } = options
  const { input = process.stdin, output = process.stdout } = options
  const calls = new InFlight()
  const stopped = new AbortController()
  const server = new Server({ name, title, version }, { capabilities: { tools: {} }, instructions })

  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: host.tools.map(toMcpTool) }))
  // Not as a handler of its own: the SDK would refuse arguments that are no object before we can say so.
  server.fallbackRequestHandler = async ({ method, params }, extra) => {
    if (method !== 'tools/call') throw new McpError(ErrorCode.MethodNotFound, `Unknown method: ${method}`)
    return calls.track(callTool(host, log, params, extra))
  }
  // The name only: a parser's message quotes what it could not read.
  server.onerror = (error) => log('warn', 'mcp_message_refused', { error: error.name })

  const shutDown = async (): Promise<void> => {
    await calls.settled(ANSWERS_MS, stopped.signal)
    await host.close()
    await calls.settled(LAST_ANSWERS_MS)
    await server.close()
  }
  const closed = new Promise<void>((resolve, reject) => {
    let begun = false
    const begin = (reason: CloseReason) => (): void => {
      if (begun) return
      begun = true
      log('info', 'shutting_down', { reason })
      onClose?.(reason)
      shutDown().then(resolve, reject)
    }
    // SDK 1.x does not react to the end of its input.
    input.once('end', begin('input_ended')).once('close', begin('input_ended'))
    output.on('error', begin('output_failed'))
    server.onclose = begin('transport_closed')
    stopped.signal.addEventListener('abort', begin('stopped'), { once: true })
  })
  await server.connect(new StdioServerTransport(input, output))
  return { closed, stop: () => stopped.abort() }
}
