import { join } from 'node:path'
import type { TreeEntry } from '../fast-import.ts'
import { plainGit } from '../plain-git.ts'
import type { Repository } from '../repository.ts'
import type { Stage } from './stage.ts'

/**
 * A repository at `sub` in the checkout, one commit ahead of what is recorded.
 * @returns the entries that make it a submodule
 */
export async function plantSubmodule({ root, home, directory }: Repository): Promise<readonly TreeEntry[]> {
  const cwd = join(root, 'sub')
  await plainGit(['init', '--quiet', '--initial-branch=main', cwd], { cwd: directory, home })
  await plainGit(['commit', '--quiet', '--allow-empty', '-m', 'Recorded'], { cwd, home })
  const recorded = await plainGit(['rev-parse', 'HEAD'], { cwd, home })
  await plainGit(['commit', '--quiet', '--allow-empty', '-m', 'Ahead'], { cwd, home })
  return [
    { path: 'sub', kind: 'submodule', content: recorded },
    { path: '.gitmodules', content: '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n' },
  ]
}

/** A submodule whose update is a program, and whose own settings name one. */
export async function laySubmodule(stage: Stage): Promise<void> {
  const { root, home } = stage.repository
  const sub = join(root, 'sub')
  const monitor = await stage.script('submodule.fsmonitor')
  await plainGit(['config', 'core.fsmonitor', monitor], { cwd: sub, home })
  await stage.setting('local', 'submodule.sub.url', sub)
  await stage.setting('local', 'submodule.sub.active', 'true')
  await stage.setting('local', 'submodule.sub.update', `!${await stage.script('submodule.update')}`)
  await stage.setting('local', 'submodule.recurse', 'true')
  stage.expected.add('submodule.fsmonitor').add('submodule.update')
  stage.springs.push(
    { args: ['status', '--porcelain'], cwd: root },
    { args: ['submodule', 'update', 'sub'], cwd: root },
  )
}
