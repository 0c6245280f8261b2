import { fileURLToPath } from 'node:url'
import { execa } from 'execa'

/** The compiled command. */
export const mainPath = fileURLToPath(new URL('../dist/main.js', import.meta.url))

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  /** All of stdin; none by default. */
  readonly input?: string
}

export interface RunResult {
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command to its end, with PATH and what is given in its environment. */
export const runBridge = async (args: readonly string[], options: RunOptions = {}): Promise<RunResult> => {
  const { env = {}, input = '' } = options
  const { exitCode, stdout, stderr } = await execa(process.execPath, [mainPath, ...args], {
    extendEnv: false,
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...env },
    input,
    reject: false,
  })
  return { code: exitCode, stdout, stderr }
}
