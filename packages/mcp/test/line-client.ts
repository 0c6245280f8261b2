import { PassThrough } from 'node:stream'
import { createInterface } from 'node:readline'
import type { Host } from '@codex-thread-bridge/core/host'
import { poll } from '@codex-thread-bridge/test-fixtures'
import { serveStdio, type ServeOptions, type Serving } from '../src/index.ts'

export type Message = Readonly<Record<string, unknown>>

export interface LineClient {
  readonly input: PassThrough
  readonly output: PassThrough
  readonly serving: Serving
  /** Every line that came out, parsed, in order. */
  readonly received: readonly Message[]
  send(message: Message): void
  /** Sends a request; its response, whatever it says. */
  ask(id: number, method: string, params?: Message): Promise<Message>
  response(id: number): Promise<Message>
}

/** Serves a host in this process and speaks to it line by line: the wire as it is, with no client in between. */
export const lineClient = async (host: Host, options: Partial<ServeOptions> = {}): Promise<LineClient> => {
  const input = new PassThrough()
  const output = new PassThrough()
  const received: Message[] = []
  createInterface({ input: output })
    .on('line', (line) => received.push(JSON.parse(line) as Message))
    .on('error', () => undefined)
  const serving = await serveStdio(host, {
    name: 'test',
    title: 'Test',
    version: '1.2.3',
    instructions: 'Be kind.',
    input,
    output,
    ...options,
  })
  const send = (message: Message): void =>
    void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const response = (id: number): Promise<Message> =>
    poll(() => received.find((message) => message.id === id), { what: `response ${String(id)}` })
  const ask = (id: number, method: string, params: Message = {}): Promise<Message> => {
    send({ id, method, params })
    return response(id)
  }
  await ask(0, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'line-client', version: '0.0.0' },
  })
  send({ method: 'notifications/initialized' })
  return { input, output, serving, received, send, ask, response }
}
