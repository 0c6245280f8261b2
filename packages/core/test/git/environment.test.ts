import { appendFile, chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { createRepository, type Repository, userEnvironment } from '@codex-thread-bridge/test-fixtures'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createGit, inspectWorktree, localCommit, sourceCheckout } from '../../src/git/index.ts'
import { answering, gitOf, launch, refusal, standInGit } from './support.ts'

let repository: Repository
beforeEach(async () => {
  repository = await createRepository()
})
afterEach(() => repository.remove())

describe('the environment of a Git command', () => {
  it('has no GIT_ variable of ours, no editor, pager or language, and only absolute directories in PATH', async () => {
    const path = await standInGit(repository.directory, answering('env'))
    const env = {
      PATH: ['.', path, '', '/usr/bin', 'bin', '/bin'].join(delimiter),
      HOME: repository.home,
      XDG_CONFIG_HOME: '/somewhere',
      GIT_DIR: '/elsewhere',
      GIT_SSH: 'ssh',
      GIT_CONFIG_PARAMETERS: "'core.hooksPath'='/hooks'",
      GIT_CONFIG_KEY_99: 'core.hooksPath',
      EDITOR: 'editor',
      VISUAL: 'editor',
      PAGER: 'pager',
      SSH_ASKPASS: 'askpass',
      LANG: 'de_DE.UTF-8',
      LANGUAGE: 'de',
      LC_MESSAGES: 'de_DE.UTF-8',
      PWD: '/elsewhere',
      MINE: 'kept',
    }
    const { stdout } = await createGit({ timeoutMs: 10_000, env }).run(['status'], { cwd: repository.root })
    const lines = stdout.toString().trim().split('\n')
    const seen = new Map(lines.map((line) => [line.split('=')[0] ?? '', line.slice(line.indexOf('=') + 1)]))
    const settings = [...seen.keys()].filter((name) => /^GIT_CONFIG_(?:KEY|VALUE)_/.test(name))
    expect(settings).toHaveLength(2 * Number(seen.get('GIT_CONFIG_COUNT')))
    expect(settings).not.toContain('GIT_CONFIG_KEY_99')
    for (const name of [...settings, 'GIT_CONFIG_COUNT', 'PWD', 'OLDPWD', '_', 'SHLVL']) seen.delete(name)
    expect(Object.fromEntries(seen)).toEqual({
      PATH: [path, '/usr/bin', '/bin'].join(delimiter),
      HOME: repository.home,
      XDG_CONFIG_HOME: '/somewhere',
      MINE: 'kept',
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      GIT_NO_LAZY_FETCH: '1',
      GIT_ALLOW_PROTOCOL: 'none',
      GIT_PROTOCOL_FROM_USER: '0',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_ASKPASS: '',
      GIT_EDITOR: ':',
      GIT_SEQUENCE_EDITOR: ':',
      GIT_PAGER: 'cat',
      GIT_SSH_COMMAND: 'exit 1;',
      GIT_TRACE2: '0',
      GIT_TRACE2_EVENT: '0',
      GIT_TRACE2_PERF: '0',
    })
  })

  it('sends no Git elsewhere, whatever the environment of the bridge says', async () => {
    const { root, home, directory } = repository
    const other = await createRepository({ files: [{ path: 'other', content: '' }] })
    const trace = join(directory, 'trace')
    const programs = join(directory, 'programs')
    await mkdir(programs)
    for (const name of ['git-rev-parse', 'trap']) {
      await writeFile(join(programs, name), `#!/bin/sh\n: > '${join(directory, 'mark')}'\n`)
      await chmod(join(programs, name), 0o755)
    }
    const env = {
      ...userEnvironment(home),
      GIT_DIR: join(other.root, '.git'),
      GIT_WORK_TREE: other.root,
      GIT_INDEX_FILE: join(other.root, '.git', 'index'),
      GIT_OBJECT_DIRECTORY: join(other.root, '.git', 'objects'),
      GIT_COMMON_DIR: join(other.root, '.git'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: join(programs, 'trap'),
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_EXEC_PATH: programs,
      GIT_EXTERNAL_DIFF: join(programs, 'trap'),
      GIT_TRACE: trace,
      GIT_TRACE2_EVENT: trace,
      GIT_TRACE_SETUP: trace,
      GIT_NAMESPACE: 'other',
      GIT_CEILING_DIRECTORIES: root,
    }
    const git = createGit({ timeoutMs: 60_000, env })
    const destination = join(directory, 'launched')
    const source = await launch(git, root, repository.head, destination)
    expect(source.commonDirectory).toBe(join(root, '.git'))
    expect(await inspectWorktree(git, destination)).toMatchObject({ head: repository.head, clean: true })
    expect((await readdir(directory)).sort()).toEqual(['home', 'launched', 'programs', 'source'])
    await other.remove()
  })

  it('finds no program in the repository, whatever PATH says', async () => {
    const mark = join(repository.directory, 'mark')
    await writeFile(join(repository.root, 'git'), `#!/bin/sh\n: > '${mark}'\n`)
    await chmod(join(repository.root, 'git'), 0o755)
    const path = ['.', '', ...(process.env['PATH'] ?? '').split(delimiter)].join(delimiter)
    const { exitCode } = await execa('sh', ['-c', 'git status'], {
      cwd: repository.root,
      env: { PATH: path },
      reject: false,
    })
    expect(exitCode).toBe(0)
    expect(await readdir(repository.directory)).toContain('mark')
    await execa('rm', [mark])
    const git = createGit({ timeoutMs: 60_000, env: { ...userEnvironment(repository.home), PATH: path } })
    await sourceCheckout(git, repository.root)
    expect(await readdir(repository.directory)).not.toContain('mark')
  })
})

describe('the settings of a Git command', () => {
  it('win over what the caller sets', async () => {
    const settings = [
      ['core.hooksPath', '/hooks'],
      ['filter.mine.clean', 'trap'],
      ['filter.another.clean', 'trap'],
      ['user.name', 'Caller'],
    ] as const
    await repository.git(['config', 'filter.mine.smudge', 'trap'])
    const get = async (name: string): Promise<string> => {
      const { stdout } = await gitOf(repository).run(['config', '--get', name], {
        cwd: repository.root,
        settings,
      })
      return stdout.toString()
    }
    expect(await get('core.hooksPath')).toBe('/dev/null\n')
    expect(await get('filter.mine.clean')).toBe('\n')
    expect(await get('filter.another.clean')).toBe('\n')
    expect(await get('filter.mine.smudge')).toBe('\n')
    expect(await get('filter.mine.required')).toBe('false\n')
    expect(await get('user.name')).toBe('Caller\n')
  })

  it.each([
    ['filter', 'smudge'],
    ['hook', 'command'],
    ['merge', 'driver'],
    ['alias', 'command'],
  ])('cannot switch off a %s whose name is not UTF-8: refused, naming it', async (section, variable) => {
    const name = Buffer.from([0x61, 0xff])
    const lines = [Buffer.from(`[${section} "`), name, Buffer.from(`"]\n\t${variable} = trap\n`)]
    await appendFile(join(repository.root, '.git', 'config'), Buffer.concat(lines))
    const git = gitOf(repository)
    const source = await sourceCheckout(git, repository.root)
    const { code, message } = await refusal(localCommit(git, source, repository.head))
    expect(code).toBe('git_unsafe')
    expect(message).toContain(`${section}.a\ufffd.${variable}`)
  })

  it('may have any other name that is not UTF-8', async () => {
    const lines = [
      Buffer.from('[branch "'),
      Buffer.from([0x61, 0xff]),
      Buffer.from('"]\n\tremote = origin\n'),
    ]
    await appendFile(join(repository.root, '.git', 'config'), Buffer.concat(lines))
    const git = gitOf(repository)
    const source = await sourceCheckout(git, repository.root)
    expect(await localCommit(git, source, repository.head)).toBe(repository.head)
  })
})
