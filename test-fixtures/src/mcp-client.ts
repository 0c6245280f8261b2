import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CallToolResultSchema, type Progress, type Tool } from '@modelcontextprotocol/sdk/types.js'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { at } from './json.ts'

export interface McpClientOptions {
  readonly command: string
  readonly args: readonly string[]
  /** Added to what MCP hosts pass on: HOME, LOGNAME, PATH, SHELL, TERM, USER. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface McpCallOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
  /** _meta of the request. */
  readonly meta?: Readonly<Record<string, unknown>>
  /** 60 s by default. */
  readonly timeoutMs?: number
}

const ToolErrorShape = Type.Object({
  code: Type.String(),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
  field: Type.Optional(Type.String()),
  next: Type.Optional(Type.String()),
})
const toolErrorShape = Compile(ToolErrorShape)

/** What the bridge says of a call that could not be carried out. */
export type ToolError = Static<typeof ToolErrorShape>

export interface McpCallResult {
  readonly isError: boolean
  readonly structured: Readonly<Record<string, unknown>> | undefined
  /** The text items, joined. */
  readonly text: string
  /** The text's {"error": {…}} when isError is true. */
  readonly error: ToolError | undefined
}

export interface McpClientProcess {
  /** The SDK's client, for everything else. */
  readonly client: Client
  readonly pid: number
  /** All that the server wrote to stderr. */
  readonly stderr: string
  tools(): Promise<readonly Tool[]>
  /** tools/call; a JSON-RPC error (an unknown tool, for one) rejects with the SDK's McpError. */
  call(
    name: string,
    args?: Readonly<Record<string, unknown>>,
    options?: McpCallOptions,
  ): Promise<McpCallResult>
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** Ends stdin, then SIGTERM and SIGKILL as the SDK does. */
  close(): Promise<void>
}

/** Starts an MCP server over stdio and initializes it as an MCP host does. */
export async function startMcpClient(options: McpClientOptions): Promise<McpClientProcess> {
  const { command, args, env = {}, cwd } = options
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    stderr: 'pipe',
    ...(cwd !== undefined && { cwd }),
  })
  let stderr = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const client = new Client({ name: 'test-host', version: '0.0.0' })
  const gone = new Promise<void>((resolve) => {
    client.onclose = resolve
  })
  await client.connect(transport).catch(async (error: unknown) => {
    await transport.close()
    throw new Error(`${command} ${args.join(' ')} is no MCP server: ${stderr}`, { cause: error })
  })
  const pid = transport.pid
  if (pid === null) throw new Error(`${command} ended at once: ${stderr}`)

  return {
    client,
    pid,
    get stderr() {
      return stderr
    },
    tools: async () => (await client.listTools()).tools,
    call: (name, callArgs = {}, callOptions = {}) => callTool(client, name, callArgs, callOptions),
    async kill() {
      if (transport.pid !== null) process.kill(pid, 'SIGKILL')
      await gone
    },
    close: () => client.close(),
  }
}

async function callTool(
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>>,
  { signal, onProgress, meta, timeoutMs }: McpCallOptions,
): Promise<McpCallResult> {
  const result = await client.callTool(
    { name, arguments: { ...args }, ...(meta && { _meta: { ...meta } }) },
    CallToolResultSchema,
    {
      ...(signal && { signal }),
      ...(onProgress && { onprogress: onProgress }),
      ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    },
  )
  const { content, structuredContent, isError = false } = CallToolResultSchema.parse(result)
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return { isError, structured: structuredContent, text, error: isError ? toolError(text) : undefined }
}

function toolError(text: string): ToolError | undefined {
  try {
    const error = at(JSON.parse(text), 'error')
    return toolErrorShape.Check(error) ? error : undefined
  } catch {
    return undefined
  }
}
