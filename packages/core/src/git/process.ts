import { execa } from 'execa'
import { given } from '../contract/given.ts'

/** How a process ended. */
export interface Ended {
  readonly stdout: Buffer
  /** The last KiB of standard error. */
  readonly stderr: string
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  /** Why we stopped it, when we did. */
  readonly stopped: 'timeout' | 'cancelled' | 'too_much_output' | undefined
  /** The operating system's error when it could not be started. */
  readonly startError: string | undefined
}

export interface ProcessOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly input?: Uint8Array
  /** Of ours, open: the program and what it starts have it as their descriptor 3. */
  readonly descriptor?: number
  readonly timeoutMs: number
  readonly maxStdout: number
  readonly signal?: AbortSignal
}

const STDERR_KEPT = 8 * 1024
/** From SIGTERM to SIGKILL, and from SIGKILL until its open pipes are given up. */
const GRACE_MS = 2_000

/** A signal to every process of the group that `pid` leads; false when there is none left. */
const signalGroup = (pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean => {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

/**
 * Runs a program in a process group of its own, standard input closed unless given, until it has ended and closed its
 * output. When time is over, on abort and on too much output the whole group gets SIGTERM, then SIGKILL.
 * Never rejects: how it ended is the answer.
 */
export const runProcess = async (
  file: string,
  args: readonly string[],
  options: ProcessOptions,
): Promise<Ended> => {
  const none = { stdout: Buffer.alloc(0), stderr: '', exitCode: undefined, signal: undefined }
  if (options.signal?.aborted === true) return { ...none, stopped: 'cancelled', startError: undefined }

  const child = execa(file, args, {
    cwd: options.cwd,
    env: options.env,
    extendEnv: false,
    detached: true,
    cleanup: false,
    reject: false,
    buffer: false,
    encoding: 'buffer',
    stdio: [
      options.input === undefined ? 'ignore' : 'pipe',
      'pipe',
      'pipe',
      // execa takes every descriptor; its types end at 9.
      ...(options.descriptor === undefined ? [] : [options.descriptor as 9]),
    ],
    ...given({ input: options.input }),
  })

  let stopped: Ended['stopped']
  const timers: NodeJS.Timeout[] = []
  let giveUp: () => void = () => undefined
  const givenUp = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined)
  })
  const stop = (why: NonNullable<Ended['stopped']>): void => {
    const { pid } = child
    if (stopped !== undefined || pid === undefined) return
    stopped = why
    signalGroup(pid, 'SIGTERM')
    const kill = setTimeout(() => {
      signalGroup(pid, 'SIGKILL')
      timers.push(setTimeout(giveUp, GRACE_MS))
    }, GRACE_MS)
    timers.push(kill)
  }
  timers.push(setTimeout(() => stop('timeout'), options.timeoutMs))
  const onAbort = (): void => stop('cancelled')
  options.signal?.addEventListener('abort', onAbort, { once: true })

  const chunks: Buffer[] = []
  let size = 0
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > options.maxStdout) stop('too_much_output')
    else chunks.push(chunk)
  })
  let errors = Buffer.alloc(0)
  child.stderr.on('data', (chunk: Buffer) => {
    errors = Buffer.concat([errors, chunk]).subarray(-STDERR_KEPT)
  })

  const result = await Promise.race([child, givenUp])
  for (const timer of timers) clearTimeout(timer)
  options.signal?.removeEventListener('abort', onAbort)
  if (result === undefined) {
    child.stdout.destroy()
    child.stderr.destroy()
  }
  const failedToStart = result !== undefined && child.pid === undefined
  return {
    stdout: Buffer.concat(chunks),
    stderr: errors.toString('utf8'),
    exitCode: result?.exitCode,
    signal: result?.signal,
    stopped,
    startError: failedToStart ? (result.code ?? result.shortMessage) : undefined,
  }
}
