import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stage } from './stage.ts'

/** Where the hooks stand: in the repository, or where core.hooksPath of the repository or of the user leads. */
export type HooksPlace = 'directory' | 'local' | 'global'

/** Set off by making a worktree or a commit. */
const sprung = [
  'commit-msg',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'pre-commit',
  'prepare-commit-msg',
  'reference-transaction',
]
const others = [
  'applypatch-msg',
  'post-merge',
  'post-rewrite',
  'pre-auto-gc',
  'pre-merge-commit',
  'pre-push',
  'pre-rebase',
  'push-to-checkout',
  'update',
]

const hookDirectory = async (stage: Stage, place: HooksPlace): Promise<string> => {
  const { root, directory } = stage.repository
  if (place === 'directory') return join(root, '.git', 'hooks')
  const path = join(directory, 'hooks')
  await stage.setting(place, 'core.hooksPath', path)
  return path
}

/** Hooks that stand as files. */
export async function layHooks(stage: Stage, place: HooksPlace): Promise<void> {
  const folder = await hookDirectory(stage, place)
  await mkdir(folder, { recursive: true })
  for (const event of [...sprung, ...others]) {
    await symlink(await stage.script(`hook.${event}`), join(folder, event))
  }
  for (const event of sprung) stage.expected.add(`hook.${event}`)
  stage.springs.push({
    args: ['commit', '--quiet', '--allow-empty', '-m', 'A spring'],
    cwd: stage.repository.root,
  })
}

/** Hooks that stand as settings: Git knows them from 2.54 on. */
export async function layConfiguredHooks(stage: Stage, gitVersion: string): Promise<void> {
  const known = gitVersion.localeCompare('2.54', 'en', { numeric: true }) >= 0
  const traps = [
    { mark: 'configured-hook.local', scope: 'local', name: 'trap' },
    { mark: 'configured-hook.global', scope: 'global', name: 'a.b="c d"' },
    { mark: 'configured-hook.separator', scope: 'local', name: 'a\u2028b' },
  ] as const
  for (const { mark, scope, name } of traps) {
    await stage.setting(scope, `hook.${name}.command`, await stage.script(mark))
    for (const event of ['post-index-change', 'reference-transaction', 'post-checkout']) {
      await stage.setting(scope, `hook.${name}.event`, event)
    }
    if (known) stage.expected.add(mark)
  }
}

/** A template whose hooks come into every new repository; a user's core.hooksPath keeps them from running. */
export async function layTemplate(stage: Stage, place: HooksPlace): Promise<void> {
  const { directory } = stage.repository
  const template = join(directory, 'template')
  await mkdir(join(template, 'hooks'), { recursive: true })
  await symlink(await stage.script('template.post-commit'), join(template, 'hooks', 'post-commit'))
  await stage.setting('global', 'init.templateDir', template)
  if (place !== 'global') stage.expected.add('template.post-commit')
  const made = join(directory, 'made')
  stage.springs.push({ args: ['init', '--quiet', made], cwd: directory })
  stage.springs.push({
    args: ['-C', made, 'commit', '--quiet', '--allow-empty', '-m', 'A spring'],
    cwd: directory,
  })
}
