import { appendFile, chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Repository } from '../repository.ts'

/** Which file a trap is set in. */
export type Scope = 'local' | 'global' | 'worktree'

/** A command of plain Git that sets traps off. */
export interface Spring {
  readonly args: readonly string[]
  readonly cwd: string
  readonly input?: string
}

/** Where traps are put up: a repository, scripts that leave marks, and the list of what must leave one. */
export interface Stage {
  readonly repository: Repository
  /** Marks that plain Git leaves when all springs ran. */
  readonly expected: Set<string>
  readonly springs: Spring[]
  /** The names of the traps that ran. */
  marks(): Promise<readonly string[]>
  /** A path where a file counts as a mark. */
  markPath(name: string): string
  /** An executable that leaves a mark and then does `body`. */
  script(name: string, body?: string): Promise<string>
  setting(scope: Scope, key: string, value: string): Promise<void>
  /** A file of settings, for an include. */
  settingsFile(name: string, settings: Readonly<Record<string, string>>): Promise<string>
  /** A line of `.git/info/attributes`. */
  attribute(line: string): Promise<void>
}

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`

/** A setting as it stands in a file; written by hand, since Git would already follow what is set before. */
const settingText = (key: string, value: string): string => {
  const first = key.indexOf('.')
  const last = key.lastIndexOf('.')
  const name = first === last ? '' : ` ${quoted(key.slice(first + 1, last))}`
  return `[${key.slice(0, first)}${name}]\n\t${key.slice(last + 1)} = ${quoted(value)}\n`
}

/** Marks and scripts stand outside the repository: what Git does with that leaves them alone. */
export async function buildStage(repository: Repository): Promise<Stage> {
  const { root, home, directory } = repository
  const marks = join(directory, 'marks')
  const scripts = join(directory, 'scripts')
  const settings = join(directory, 'settings')
  for (const folder of [marks, scripts, settings]) await mkdir(folder)
  const files: Readonly<Record<Scope, string>> = {
    local: join(root, '.git', 'config'),
    global: join(home, '.gitconfig'),
    worktree: join(root, '.git', 'config.worktree'),
  }

  return {
    repository,
    expected: new Set(),
    springs: [],
    marks: async () => (await readdir(marks)).sort(),
    markPath: (name) => join(marks, name),
    async script(name, body = '') {
      const path = join(scripts, name)
      await writeFile(path, `#!/bin/sh\n: > '${join(marks, name)}'\n${body}\n`)
      await chmod(path, 0o755)
      return path
    },
    async setting(scope, key, value) {
      await appendFile(files[scope], settingText(key, value))
    },
    async settingsFile(name, values) {
      const path = join(settings, name)
      const texts = Object.entries(values).map(([key, value]) => settingText(key, value))
      await writeFile(path, texts.join(''))
      return path
    },
    attribute: (line) => appendFile(join(root, '.git', 'info', 'attributes'), `${line}\n`),
  }
}
