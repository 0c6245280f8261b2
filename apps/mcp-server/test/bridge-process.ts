import { at, poll } from '@codex-thread-bridge/test-fixtures'
import { execa } from 'execa'
import { mainPath } from './run-bridge.ts'

export type Message = Readonly<Record<string, unknown>>

export interface BridgeProcess {
  /** Every line of stdout so far. */
  readonly lines: readonly string[]
  readonly stderr: string
  send(message: Message): void
  /** Sends a request; its response, whatever it says. */
  ask(id: number, method: string, params?: Message): Promise<Message>
  response(id: number): Promise<Message>
  write(text: string): void
  endInput(): void
  signal(name: NodeJS.Signals): void
  /** The exit code; undefined when a signal ended it. */
  readonly exited: Promise<number | undefined>
}

/** The server as a raw process: what it writes line by line, and how it ends. Killed with the test run. */
export const startBridge = async (args: readonly string[]): Promise<BridgeProcess> => {
  const child = execa(process.execPath, [mainPath, ...args], {
    extendEnv: false,
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent' },
    stdin: 'pipe',
    buffer: false,
    reject: false,
    forceKillAfterDelay: false,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))

  const lines = (): readonly string[] => stdout.split('\n').slice(0, -1)
  const write = (text: string): void => void child.stdin.write(text)
  const send = (message: Message): void => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const response = (id: number): Promise<Message> =>
    poll(
      () =>
        lines()
          .map((line) => JSON.parse(line) as Message)
          .find((message) => message.id === id),
      {
        what: `response ${String(id)}`,
        timeoutMs: 30_000,
      },
    )
  const ask = (id: number, method: string, params: Message = {}): Promise<Message> => {
    send({ id, method, params })
    return response(id)
  }
  await ask(0, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '0.0.0' },
  })
  send({ method: 'notifications/initialized' })
  return {
    get lines() {
      return lines()
    },
    get stderr() {
      return stderr
    },
    send,
    ask,
    response,
    write,
    endInput: () => void child.stdin.end(),
    signal: (name) => void child.kill(name),
    exited: child.then(({ exitCode }) => exitCode),
  }
}

/** The structured answer of a tools/call response. */
export const structured = (message: Message): unknown => at(message, 'result.structuredContent')
