import { given } from '../contract/given.ts'
import { absoluteEntries, isolatedEnvironment } from './environment.ts'
import { failureOf } from './failure.ts'
import { findGit } from './find-git.ts'
import { runProcess, type Ended } from './process.ts'
import { isolatedCommand, isolation, startsNothing } from './isolation.ts'
import { switchedOff } from './named-programs.ts'
import { type Setting, settingsEnvironment } from './setting.ts'
import { whileHalfWritten } from './half-written.ts'
import { fields } from './text.ts'
import { supportedVersion } from './version.ts'

export interface RunOptions {
  readonly cwd: string
  /** For commands that change nothing: a command that changes something is left to end. */
  readonly signal?: AbortSignal
  /** More settings for this command; they cannot weaken the isolation. */
  readonly settings?: readonly Setting[]
  readonly input?: Uint8Array
  /** Exit codes that are answers; others are failures. Default: 0. */
  readonly exitCodes?: readonly number[]
  /** A directory that the command finds open as its descriptor 3. */
  readonly descriptor?: number
  /** The Git directory to act on, with `cwd` as its working tree, instead of the one that `cwd` leads to. */
  readonly gitDirectory?: string
  /** Whether the command changes something: its failure is `next: inspect`. Default: no. */
  readonly changes?: boolean
}

/** What a question to Git may be given. */
export type Looking = Pick<RunOptions, 'signal'>

/** The options of a command that only looks. */
export const looksIn = (cwd: string, { signal }: Looking): RunOptions => ({ cwd, ...given({ signal }) })

export interface GitAnswer {
  readonly stdout: Buffer
  readonly exitCode: number
}

/** Git commands in isolation: nothing of the repository or of the user's configuration runs. */
export interface Git {
  /**
   * Runs one Git command.
   * @throws BridgeError git_failed, git_timeout, git_missing, git_too_old, git_unsafe, cancelled
   */
  run(args: readonly string[], options: RunOptions): Promise<GitAnswer>
  /** The installed version, as in `2.39.5`. */
  version(): Promise<string>
}

export interface GitOptions {
  /** A command's time in milliseconds; then it is killed with its group. */
  readonly timeoutMs: number
  /** Default: this process's environment. */
  readonly env?: NodeJS.ProcessEnv
  /** Largest answer in bytes. */
  readonly maxStdout?: number
}

const MAX_STDOUT = 64 * 1024 * 1024

interface Program {
  readonly file: string
  readonly version: string
}

/** Git as it is found in the PATH, looked for at the first command. */
export const createGit = (options: GitOptions): Git => {
  const { timeoutMs, env = process.env, maxStdout = MAX_STDOUT } = options
  const environment = isolatedEnvironment(env)
  let found: Promise<Program> | undefined

  const start = (
    file: string,
    args: readonly string[],
    settings: readonly Setting[],
    { cwd, signal, input, descriptor, gitDirectory }: RunOptions,
  ): Promise<Ended> =>
    runProcess(file, isolatedCommand(args), {
      cwd,
      env: {
        ...environment,
        ...settingsEnvironment(settings),
        ...(gitDirectory === undefined ? {} : { GIT_DIR: gitDirectory, GIT_WORK_TREE: '.' }),
      },
      timeoutMs,
      maxStdout,
      ...given({ signal, input, descriptor }),
    })

  const answerOf = (args: readonly string[], ended: Ended, options: RunOptions): GitAnswer => {
    const { cwd, exitCodes = [0], changes = false } = options
    const { exitCode, stdout, stopped } = ended
    if (stopped === undefined && exitCode !== undefined && exitCodes.includes(exitCode)) {
      return { stdout, exitCode }
    }
    throw failureOf(args, ended, { cwd, timeoutMs, maxStdout, changes })
  }

  const look = async (): Promise<Program> => {
    const file = await findGit(absoluteEntries(env['PATH']))
    const args = ['version']
    const options = { cwd: '/' }
    const { stdout } = answerOf(args, await start(file, args, isolation, options), options)
    return { file, version: supportedVersion(stdout.toString('utf8')) }
  }

  /** Found once; a failure is looked into again at the next need. */
  const program = (): Promise<Program> => {
    found ??= look().catch((error: unknown) => {
      found = undefined
      throw error
    })
    return found
  }

  /** Read for each command: a new worktree, or a changed file, may name other programs. */
  const namedPrograms = async (
    file: string,
    settings: readonly Setting[],
    options: RunOptions,
  ): Promise<readonly Setting[]> => {
    const args = ['config', '--list', '-z', '--name-only']
    const { cwd, changes, descriptor, gitDirectory } = options
    const reading = { ...looksIn(cwd, options), ...given({ changes, descriptor, gitDirectory }) }
    const { stdout } = answerOf(args, await start(file, args, settings, reading), reading)
    return switchedOff(fields(stdout))
  }

  const run = async (args: readonly string[], options: RunOptions): Promise<GitAnswer> => {
    const { file } = await program()
    const settings = [...(options.settings ?? []), ...isolation]
    const off = startsNothing(args) ? [] : await namedPrograms(file, settings, options)
    return answerOf(args, await start(file, args, [...settings, ...off], options), options)
  }

  return {
    run: (args, options) =>
      options.changes === true ? run(args, options) : whileHalfWritten(() => run(args, options)),
    version: async () => (await program()).version,
  }
}
