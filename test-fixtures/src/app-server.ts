import { readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { execa } from 'execa'
import { onExit } from 'signal-exit'
import { codexBinary, type CodexVersion } from './codex-binary.ts'
import type { CodexHome } from './codex-home.ts'
import { poll } from './poll.ts'
import { opened, unixWebSocket } from './unix-websocket.ts'

export interface AppServerOptions {
  readonly version: CodexVersion
  readonly home: CodexHome
  /** home.socketPath by default: where the App Server of this home listens anyway. */
  readonly socketPath?: string
  /** Added to PATH, HOME and CODEX_HOME; nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>
}

export interface AppServerProcess {
  /** Of the native server itself; another one after restart(). */
  readonly pid: number
  readonly running: boolean
  readonly socketPath: string
  readonly home: CodexHome
  readonly version: CodexVersion
  /** The last 16,000 characters written to stderr since the latest start. */
  readonly stderrTail: string
  /** SIGTERM, SIGKILL after 2 s (it drains running turns first); removes what a killed server left at the socket. */
  stop(): Promise<void>
  /** SIGKILL; resolves when the process is gone. The socket file stays, as after a crash. */
  kill(): Promise<void>
  /** Starts again, in place, on the same home and socket; kills first if it still runs. */
  restart(): Promise<void>
  /** SIGSTOP: connections stay open and nothing answers. Resolves when the process has stopped. */
  freeze(): Promise<void>
  /** SIGCONT */
  thaw(): void
}

const graceMs = 2_000
const startMs = 15_000
const tailLength = 16_000

interface Running {
  readonly child: ReturnType<typeof spawnCodex>
  readonly pid: number
  exited: boolean
  stderr: string
}

/** Starts `codex app-server` on a Unix socket; resolves when a WebSocket handshake succeeds. Ends with the test run. */
export async function startAppServer(options: AppServerOptions): Promise<AppServerProcess> {
  const { home, version, socketPath = home.socketPath } = options
  let server = await launch(options, socketPath)
  onExit(() => removeSocket(socketPath))

  function signal(name: NodeJS.Signals): void {
    if (!server.exited) server.child.kill(name)
  }
  async function kill(): Promise<void> {
    signal('SIGKILL')
    await server.child
  }
  async function stop(): Promise<void> {
    signal('SIGCONT')
    signal('SIGTERM')
    const timer = setTimeout(() => signal('SIGKILL'), graceMs)
    await server.child
    clearTimeout(timer)
    removeSocket(socketPath)
  }
  async function freeze(): Promise<void> {
    signal('SIGSTOP')
    await poll(() => isStopped(server.pid), { what: `process ${String(server.pid)} to stop` })
  }
  async function restart(): Promise<void> {
    await kill()
    server = await launch(options, socketPath)
  }

  return {
    home,
    version,
    socketPath,
    get pid() {
      return server.pid
    },
    get running() {
      return !server.exited
    },
    get stderrTail() {
      return server.stderr
    },
    stop,
    kill,
    restart,
    freeze,
    thaw: () => signal('SIGCONT'),
  }
}

async function launch(options: AppServerOptions, socketPath: string): Promise<Running> {
  // A server that has the socket already would answer in the place of the new one, which is about to exit.
  const taken = await answers(socketPath).catch(() => false)
  const server = spawnServer(options, socketPath)
  try {
    await poll(() => server.exited || (!taken && answers(socketPath)), {
      what: `App Server at ${socketPath}`,
      timeoutMs: startMs,
    })
    await setImmediate()
    if (server.exited) throw new Error('it exited')
    // It would go on with defaults, among them the provider that needs an account.
    if (server.stderr.includes('Invalid configuration')) throw new Error('its configuration is wrong')
  } catch (error) {
    server.child.kill('SIGKILL')
    await server.child
    if (!taken) removeSocket(socketPath)
    throw new Error(`codex app-server ${options.version} did not start: ${server.stderr}`, { cause: error })
  }
  return server
}

function spawnServer(options: AppServerOptions, socketPath: string): Running {
  const child = spawnCodex(options, socketPath)
  if (child.pid === undefined) throw new Error(`${codexBinary(options.version)} cannot be executed`)
  const server: Running = { child, pid: child.pid, exited: false, stderr: '' }
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    server.stderr = (server.stderr + text).slice(-tailLength)
  })
  child.once('exit', () => {
    server.exited = true
  })
  return server
}

function spawnCodex({ version, home, env }: AppServerOptions, socketPath: string) {
  return execa(codexBinary(version), ['app-server', '--listen', `unix://${socketPath}`], {
    cwd: home.path,
    extendEnv: false,
    env: { PATH: process.env.PATH ?? '', HOME: home.path, CODEX_HOME: home.path, ...env },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    buffer: false,
    reject: false,
    // What execa sends when the test run ends: it ends a frozen or draining server too.
    killSignal: 'SIGKILL',
  })
}

async function isStopped(pid: number): Promise<boolean> {
  const { stdout } = await execa('ps', ['-o', 'state=', '-p', String(pid)])
  return stdout.startsWith('T')
}

async function answers(socketPath: string): Promise<boolean> {
  const socket = unixWebSocket(socketPath)
  await opened(socket)
  socket.terminate()
  return true
}

/** From 0.163 on the path is a symlink to a socket in the system's temporary folder, with a lock beside it. */
function removeSocket(socketPath: string): void {
  const target = linkTarget(socketPath)
  for (const path of [socketPath, ...(target ? [target, `${target}.lock`] : [])])
    rmSync(path, { force: true })
}

function linkTarget(path: string): string | undefined {
  try {
    return join(readlinkSync(path))
  } catch {
    return undefined
  }
}
