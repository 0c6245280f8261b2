import { execa } from 'execa'

export interface PlainGitOptions {
  readonly cwd: string
  /** Where Git finds the user's settings. */
  readonly home: string
  readonly input?: string | Uint8Array
  readonly env?: Readonly<Record<string, string>>
}

export interface PlainAnswer {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number | undefined
}

/** The environment of a user with that home: nothing of the test run's own Git reaches it. */
export const userEnvironment = (home: string): Record<string, string> => {
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !/^(?:GIT_|XDG_|EDITOR$|VISUAL$|PAGER$|SSH_ASKPASS$)/.test(name)) {
      environment[name] = value
    }
  }
  return { ...environment, HOME: home, GIT_CONFIG_NOSYSTEM: '1' }
}

/** Git as that user runs it, with no isolation. Never rejects because of what Git answers. */
export async function tryPlainGit(args: readonly string[], options: PlainGitOptions): Promise<PlainAnswer> {
  const { cwd, home, input, env } = options
  const { stdout, stderr, exitCode } = await execa('git', args, {
    cwd,
    env: { ...userEnvironment(home), ...env },
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
    ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
  })
  return { stdout, stderr, exitCode }
}

/** As tryPlainGit, for what must succeed: what it printed, without the last line's end. */
export async function plainGit(args: readonly string[], options: PlainGitOptions): Promise<string> {
  const { stdout, stderr, exitCode } = await tryPlainGit(args, options)
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')} ended with ${String(exitCode)}: ${stderr}`)
  return stdout.replace(/\n$/, '')
}
