import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { userEnvironment } from '@codex-thread-bridge/test-fixtures'
import { execa } from 'execa'
import { createGit, type Git } from '../../src/git/index.ts'

export interface Swap {
  /** Where the programs are made. */
  readonly directory: string
  readonly home: string
  readonly destination: string
  /** What the destination is a link to afterwards. */
  readonly victim: string
}

/** Where the directory that was made is after the swap. */
export const swappedAway = (destination: string): string => `${destination}-moved`

const program = async (folder: string, body: string): Promise<string> => {
  await mkdir(folder)
  await writeFile(join(folder, 'git'), `#!/bin/sh\n${body}\n`)
  await chmod(join(folder, 'git'), 0o755)
  return folder
}

/**
 * The environment of a Git that swaps the destination for a link to the victim, once, when it starts `command`: before
 * it does so itself, or between its own work and that of a child.
 */
export const swappingEnvironment = async (
  { directory, home, destination, victim }: Swap,
  command: string,
  where: 'itself' | 'child',
): Promise<Readonly<Record<string, string>>> => {
  const real = (await execa('sh', ['-c', 'command -v git'])).stdout
  const moved = swappedAway(destination)
  const swap = `case " $* " in *' ${command} '*)
    [ -e '${moved}' ] || { mv '${destination}' '${moved}'; ln -s '${victim}' '${destination}'; } ;;
  esac`
  const swaps = await program(join(directory, 'swapping-git'), `${swap}\nexec '${real}' "$@"`)
  const passesOn = `GIT_EXEC_PATH='${swaps}' exec '${real}' "$@"`
  const first = where === 'itself' ? swaps : await program(join(directory, 'passing-git'), passesOn)
  return {
    ...userEnvironment(home),
    PATH: `${first}${delimiter}${process.env['PATH'] ?? ''}`,
  }
}

export const swappingGit = async (swap: Swap, command: string, where: 'itself' | 'child'): Promise<Git> =>
  createGit({ timeoutMs: 30_000, env: await swappingEnvironment(swap, command, where) })
