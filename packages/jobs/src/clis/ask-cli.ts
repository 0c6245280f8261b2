import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { JobsOptions } from '../options.ts'
import type { Cli } from './cli.ts'
import { environmentOf } from './environment.ts'

const MAX_BYTES = 1_048_576

export type AskOptions = Pick<JobsOptions, 'env' | 'addedVariables'>

/** Runs a CLI for its words alone, with a time limit; its stdout. @throws Error in words */
export const askCli = async (
  cli: Cli,
  path: string,
  args: readonly string[],
  { env, addedVariables }: AskOptions,
  how: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<string> => {
  try {
    const { stdout } = await promisify(execFile)(path, [...args], {
      env: { ...environmentOf(cli, env, addedVariables) },
      timeout: how.timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_BYTES,
      signal: how.signal,
    })
    return stdout
  } catch (error) {
    const killed = error instanceof Error && 'killed' in error && error.killed === true
    if (killed) throw new Error(`it did not answer within ${how.timeoutMs / 1_000} s`, { cause: error })
    throw new Error(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error), {
      cause: error,
    })
  }
}
