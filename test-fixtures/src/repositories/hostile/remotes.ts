import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { plainGit } from '../plain-git.ts'
import type { Stage } from './stage.ts'

/** Remotes that are reached by a program, and settings that put a program between. */
export async function layRemotes(stage: Stage): Promise<void> {
  const { root, directory } = stage.repository
  const elsewhere = join(directory, 'elsewhere')
  const trap = async (name: string): Promise<string> => {
    stage.expected.add(name)
    return stage.script(name, 'exit 1')
  }
  await stage.setting('local', 'core.sshCommand', await trap('core.sshCommand'))
  await stage.setting('local', 'core.gitProxy', await trap('core.gitProxy'))
  await stage.setting('local', 'core.alternateRefsCommand', await trap('core.alternateRefsCommand'))
  await stage.setting(
    'global',
    'uploadpack.packObjectsHook',
    await stage.script('uploadpack.packObjectsHook', 'exec "$@"'),
  )
  stage.expected.add('uploadpack.packObjectsHook')
  await stage.setting('local', 'protocol.ext.allow', 'always')
  await stage.setting('local', `url.ext::${await trap('url.insteadOf')} .insteadOf`, 'https://host.invalid/')
  const remotes = {
    ssh: 'ssh://host.invalid/repository',
    proxied: 'git://host.invalid/repository',
    program: `ext::${await trap('remote.ext')}`,
    rewritten: 'https://host.invalid/repository',
    local: elsewhere,
    uploading: elsewhere,
  }
  for (const [name, url] of Object.entries(remotes)) {
    await stage.setting('local', `remote.${name}.url`, url)
    stage.springs.push({ args: ['fetch', '--quiet', name, 'main'], cwd: root })
  }
  await stage.setting('local', 'remote.uploading.uploadpack', await trap('remote.uploadpack'))
}

const cloneTo = async ({ repository: { root, directory, home } }: Stage, name: string): Promise<string> => {
  const path = join(directory, name)
  await plainGit(['clone', '--quiet', '--no-local', root, path], { cwd: directory, home })
  await plainGit(['commit', '--quiet', '--allow-empty', '-m', `Only ${name}`], { cwd: path, home })
  return path
}

/** The repository behind the remotes `local` and `uploading`, one commit ahead. */
export async function layElsewhere(stage: Stage): Promise<void> {
  await cloneTo(stage, 'elsewhere')
}

/**
 * A repository that lends its objects to this one.
 * @returns a commit that is here only through it
 */
export async function layAlternate(stage: Stage): Promise<string> {
  const lender = await cloneTo(stage, 'lender')
  const objects = join(stage.repository.root, '.git', 'objects')
  await mkdir(join(objects, 'info'), { recursive: true })
  await writeFile(join(objects, 'info', 'alternates'), `${join(lender, '.git', 'objects')}\n`)
  return plainGit(['rev-parse', 'HEAD'], { cwd: lender, home: stage.repository.home })
}

/**
 * A promisor remote that is reached by a program, and a file that it still owes.
 * @returns the commit with that file
 */
export async function layPromisor(stage: Stage, parent: string): Promise<string> {
  const { repository } = stage
  const owed = await repository.commit([{ path: 'owed.txt', content: 'owed\n' }], { branch: 'owed', parent })
  const blob = await repository.git(['rev-parse', `${owed}:owed.txt`])
  await rm(join(repository.root, '.git', 'objects', blob.slice(0, 2), blob.slice(2)))
  const url = `ext::${await stage.script('promisor.fetch', 'exit 1')}`
  await stage.setting('local', 'remote.promisor.url', url)
  await stage.setting('local', 'remote.promisor.promisor', 'true')
  await stage.setting('local', 'remote.promisor.partialCloneFilter', 'blob:none')
  stage.expected.add('promisor.fetch')
  stage.springs.push({ args: ['cat-file', '-p', blob], cwd: repository.root })
  return owed
}
