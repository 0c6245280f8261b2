import { execFile, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { at, textAt } from '@codex-thread-bridge/test-fixtures'

/** A JavaScript file and its arguments. */
export type Command = readonly [path: string, ...args: string[]]

const builtServer = fileURLToPath(new URL('../../apps/mcp-server/dist/main.js', import.meta.url))
const bareServer = fileURLToPath(new URL('bare-server.mjs', import.meta.url))

/** Our server as it is published. */
export const ourServer = (socketPath: string, stateDir: string): Command => [
  builtServer,
  '--socket',
  socketPath,
  '--state-dir',
  stateDir,
]
/** The SDK's low-level server with nine tools that do nothing. */
export const bareSdkServer: Command = [bareServer]

/**
 * An MCP server and the thinnest client: lines of JSON, nothing checked. What a client library takes on top is not the
 * server's doing.
 */
export interface McpProcess {
  /** The result; rejects with the JSON-RPC error, or when the process ends. */
  ask(method: string, params?: object): Promise<unknown>
  /** tools/call; its structured content. Rejects when the tool answers with an error. */
  callTool(name: string, args: object, meta?: object): Promise<unknown>
  /** Resolves at the first progress notification with that token, from now on. */
  progress(token: string): Promise<void>
  /** Resident memory, in MB. */
  memory(): Promise<number>
  /** The most that has been resident since it started, in MB; where the system does not tell, what is resident now. */
  peakMemory(): Promise<number>
  close(): Promise<void>
}

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

/** Starts a server and initializes it. */
export const startMcpProcess = async (
  [path, ...args]: Command,
  env: Readonly<Record<string, string>> = {},
): Promise<McpProcess> => {
  const child = spawn(process.execPath, [path, ...args], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = new Map<unknown, Waiting>()
  const progressed = new Map<unknown, () => void>()
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void ended.then(() => waiting.forEach((call) => call.reject(new Error(`${path} ended`))))

  onLines(child.stdout, (line) => {
    const message: unknown = JSON.parse(line)
    if (at(message, 'method') === 'notifications/progress')
      progressed.get(at(message, 'params.progressToken'))?.()
    const call = waiting.get(at(message, 'id'))
    waiting.delete(at(message, 'id'))
    const error = at(message, 'error')
    if (error === undefined) call?.resolve(at(message, 'result'))
    else call?.reject(new Error(JSON.stringify(error)))
  })

  const send = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  let id = 0
  const ask = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      id += 1
      waiting.set(id, { resolve, reject })
      send({ id, method, params })
    })
  await ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '0.0.0' },
  })
  send({ method: 'notifications/initialized' })
  return {
    ask,
    callTool: async (name, args, _meta = {}) =>
      contentOf(await ask('tools/call', { name, arguments: args, _meta })),
    progress: (token) => new Promise((resolve) => progressed.set(token, resolve)),
    memory: () => residentMb(child.pid ?? 0),
    peakMemory: () => peakMb(child.pid ?? 0),
    close: async () => {
      child.stdin.end()
      await ended
    },
  }
}

const onLines = (stream: NodeJS.ReadableStream, take: (line: string) => void): void => {
  let rest = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(take)
  })
}

const contentOf = (result: unknown): unknown => {
  if (at(result, 'isError') === true) throw new Error(textAt(result, 'content.0.text'))
  return at(result, 'structuredContent')
}

const residentMb = async (pid: number): Promise<number> => {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])
  return Number(stdout) / 1024
}

/** Linux keeps the peak; elsewhere there is no such file. */
const peakMb = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8').catch(() => '')
  const peak = /^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]
  return peak === undefined ? residentMb(pid) : Number(peak) / 1024
}
