import { execFile } from 'node:child_process'
import { appendFile, chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  createRepository,
  listing,
  NEWEST_CODEX,
  startWorld,
  type Repository,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Bridge } from '../../threads/test/bridge.ts'
import { launchOf, startLauncher } from './launch.ts'

interface Refusal {
  readonly name: string
  /** The arguments that differ; may prepare files first. */
  readonly launch: (repository: Repository) => object | Promise<object>
  readonly code: string
  readonly field?: string
  /** A fact that the message must tell. */
  readonly says: RegExp
}

const workspace = {
  type: 'workspaceWrite',
  writableRoots: [],
  networkAccess: false,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: false,
}

const refusals: readonly Refusal[] = [
  // Arguments
  ...(
    [
      'request_id',
      'source_repository',
      'starting_revision',
      'destination',
      'worktree_mode',
      'sandbox',
      'expected_sandbox_policy',
    ] as const
  ).map((field) => ({
    name: `${field} left out`,
    launch: () => ({ [field]: null }),
    code: 'invalid_arguments',
    field,
    says: /required/,
  })),
  {
    name: 'an unknown argument',
    launch: () => ({ branch: 'main' }),
    code: 'invalid_arguments',
    field: 'branch',
    says: /branch/,
  },
  {
    name: 'another worktree mode',
    launch: () => ({ worktree_mode: 'temporary' }),
    code: 'invalid_arguments',
    field: 'worktree_mode',
    says: /bridge-managed-retained/,
  },
  {
    name: 'a branch as revision',
    launch: () => ({ starting_revision: 'main' }),
    code: 'invalid_arguments',
    field: 'starting_revision',
    says: /starting_revision/,
  },
  {
    name: 'a short revision',
    launch: ({ head }) => ({ starting_revision: head.slice(0, 12) }),
    code: 'invalid_arguments',
    field: 'starting_revision',
    says: /starting_revision/,
  },
  {
    name: 'an upper-case revision',
    launch: ({ head }) => ({ starting_revision: `A${head.slice(1)}` }),
    code: 'invalid_arguments',
    field: 'starting_revision',
    says: /starting_revision/,
  },
  {
    name: 'a policy of another type than the sandbox',
    launch: () => ({ expected_sandbox_policy: workspace }),
    code: 'invalid_arguments',
    field: 'expected_sandbox_policy.type',
    says: /workspaceWrite does not agree with sandbox read-only/,
  },
  {
    name: 'an incomplete policy',
    launch: () => ({ sandbox: 'workspace-write', expected_sandbox_policy: { type: 'workspaceWrite' } }),
    code: 'invalid_arguments',
    field: 'expected_sandbox_policy.writableRoots',
    says: /required when type is workspaceWrite/,
  },
  {
    name: 'a member of another policy type',
    launch: () => ({
      expected_sandbox_policy: { type: 'readOnly', networkAccess: false, writableRoots: [] },
    }),
    code: 'invalid_arguments',
    field: 'expected_sandbox_policy.writableRoots',
    says: /not a member of type readOnly/,
  },
  {
    name: 'read-only with network',
    launch: () => ({ expected_sandbox_policy: { type: 'readOnly', networkAccess: true } }),
    code: 'unsupported_sandbox_policy',
    field: 'expected_sandbox_policy.networkAccess',
    says: /cannot be asked for/,
  },
  {
    name: 'a relative writable root',
    launch: () => ({
      sandbox: 'workspace-write',
      expected_sandbox_policy: { ...workspace, writableRoots: ['here'] },
    }),
    code: 'invalid_arguments',
    field: 'expected_sandbox_policy.writableRoots.0',
    says: /absolute path/,
  },
  {
    name: 'a file as writable root',
    launch: ({ root }) => ({
      sandbox: 'workspace-write',
      expected_sandbox_policy: { ...workspace, writableRoots: [join(root, 'read me.txt')] },
    }),
    code: 'invalid_arguments',
    field: 'expected_sandbox_policy.writableRoots.0',
    says: /not a directory/,
  },
  // Source
  {
    name: 'a relative source',
    launch: () => ({ source_repository: 'source' }),
    code: 'invalid_source_repository',
    field: 'source_repository',
    says: /absolute/,
  },
  {
    name: 'a source that does not exist',
    launch: ({ directory }) => ({ source_repository: join(directory, 'nowhere') }),
    code: 'invalid_source_repository',
    field: 'source_repository',
    says: /does not exist/,
  },
  {
    name: 'a file as source',
    launch: ({ root }) => ({ source_repository: join(root, 'read me.txt') }),
    code: 'invalid_source_repository',
    field: 'source_repository',
    says: /read me\.txt/,
  },
  {
    name: 'a directory in no repository as source',
    launch: ({ home }) => ({ source_repository: home }),
    code: 'invalid_source_repository',
    field: 'source_repository',
    says: /not a git repository/i,
  },
  {
    name: 'a directory within the checkout as source',
    launch: async ({ root }) => {
      await mkdir(join(root, 'sub'))
      return { source_repository: join(root, 'sub') }
    },
    code: 'invalid_source_repository',
    field: 'source_repository',
    says: /not the root of its checkout/,
  },
  {
    name: 'the Git directory as source',
    launch: ({ root }) => ({ source_repository: join(root, '.git') }),
    code: 'invalid_source_repository',
    field: 'source_repository',
    says: /Git directory/,
  },
  {
    name: 'a bare repository as source',
    launch: async ({ git, directory, root }) => {
      await git(['clone', '--quiet', '--bare', root, join(directory, 'bare')], directory)
      return { source_repository: join(directory, 'bare') }
    },
    code: 'invalid_source_repository',
    field: 'source_repository',
    says: /bare/,
  },
  {
    name: 'a source by way of a link',
    launch: async ({ directory, root }) => {
      await symlink(root, join(directory, 'link'))
      return { source_repository: join(directory, 'link') }
    },
    code: 'invalid_source_repository',
    field: 'source_repository',
    says: /real path/,
  },
  {
    name: 'a source with a trailing slash',
    launch: ({ root }) => ({ source_repository: `${root}/` }),
    code: 'invalid_source_repository',
    field: 'source_repository',
    says: /real path/,
  },
  ...['config', 'HEAD', 'packed-refs'].map((file) => ({
    name: `a source with a named pipe in place of ${file}`,
    launch: async ({ root }: Repository) => {
      const path = join(root, '.git', file)
      await rm(path, { force: true })
      await promisify(execFile)('mkfifo', [path])
      return {}
    },
    code: 'invalid_source_repository',
    field: 'source_repository',
    says: new RegExp(`/\\.git/${file} is a named pipe, not a regular file`),
  })),
  // Revision
  {
    name: 'a revision that is not local',
    launch: () => ({ starting_revision: '1'.repeat(40) }),
    code: 'unknown_revision',
    field: 'starting_revision',
    says: /not the id of a commit/,
  },
  {
    name: 'the id of a tree',
    launch: async ({ git }) => ({ starting_revision: await git(['rev-parse', 'HEAD^{tree}']) }),
    code: 'unknown_revision',
    field: 'starting_revision',
    says: /commit/,
  },
  {
    name: 'the id of a blob',
    launch: async ({ git }) => ({ starting_revision: await git(['rev-parse', 'HEAD:read me.txt']) }),
    code: 'unknown_revision',
    field: 'starting_revision',
    says: /commit/,
  },
  {
    name: 'the id of an annotated tag',
    launch: async ({ git }) => {
      await git(['tag', '--annotate', '--message', 'a tag', 'v1'])
      return { starting_revision: await git(['rev-parse', 'v1']) }
    },
    code: 'unknown_revision',
    field: 'starting_revision',
    says: /commit/,
  },
  {
    name: 'a revision of the other object format',
    launch: () => ({ starting_revision: '2'.repeat(64) }),
    code: 'unknown_revision',
    field: 'starting_revision',
    says: /40 lowercase hexadecimal digits \(sha1\)/,
  },
  {
    name: 'a source with a filter whose name is no text',
    launch: async ({ root }) => {
      const config = join(root, '.git', 'config')
      await appendFile(config, Buffer.from('[filter "caf\xe9"]\n\tclean = rm\n', 'latin1'))
      return {}
    },
    code: 'git_unsafe',
    says: /cannot be switched off/,
  },
  // Destination
  {
    name: 'a relative destination',
    launch: () => ({ destination: 'there' }),
    code: 'invalid_destination',
    field: 'destination',
    says: /absolute/,
  },
  {
    name: 'a destination in a directory that does not exist',
    launch: ({ directory }) => ({ destination: join(directory, 'no', 'where') }),
    code: 'invalid_destination',
    field: 'destination',
    says: /ENOENT/,
  },
  {
    name: 'a destination by way of a link',
    launch: async ({ directory, home }) => {
      await symlink(home, join(directory, 'link'))
      return { destination: join(directory, 'link', 'there') }
    },
    code: 'invalid_destination',
    field: 'destination',
    says: /real path/,
  },
  {
    name: 'a destination with dots in its path',
    launch: ({ directory }) => ({ destination: `${directory}/home/../there` }),
    code: 'invalid_destination',
    field: 'destination',
    says: /real path/,
  },
  {
    name: 'an empty directory as destination',
    launch: async ({ directory }) => {
      await mkdir(join(directory, 'empty'))
      return { destination: join(directory, 'empty') }
    },
    code: 'destination_exists',
    field: 'destination',
    says: /exists already/,
  },
  {
    name: 'a file as destination',
    launch: async ({ directory }) => {
      await writeFile(join(directory, 'file'), '')
      return { destination: join(directory, 'file') }
    },
    code: 'destination_exists',
    field: 'destination',
    says: /exists already/,
  },
  {
    name: 'a dangling link as destination',
    launch: async ({ directory }) => {
      await symlink('nowhere', join(directory, 'dangling'))
      return { destination: join(directory, 'dangling') }
    },
    code: 'destination_exists',
    field: 'destination',
    says: /exists already/,
  },
  {
    name: 'a destination in the source checkout',
    launch: ({ root }) => ({ destination: join(root, 'there') }),
    code: 'invalid_destination',
    field: 'destination',
    says: /lies in a Git repository/,
  },
  {
    name: 'a destination in the source’s Git directory',
    launch: ({ root }) => ({ destination: join(root, '.git', 'there') }),
    code: 'invalid_destination',
    field: 'destination',
    says: /lies in a Git repository/,
  },
  {
    name: 'a destination in another checkout',
    launch: async ({ git, directory }) => {
      await git(['init', '--quiet', join(directory, 'other')], directory)
      return { destination: join(directory, 'other', 'there') }
    },
    code: 'invalid_destination',
    field: 'destination',
    says: /lies in a Git repository/,
  },
  {
    name: 'a destination in a bare repository',
    launch: async ({ git, directory }) => {
      await git(['init', '--quiet', '--bare', join(directory, 'bare')], directory)
      return { destination: join(directory, 'bare', 'there') }
    },
    code: 'invalid_destination',
    field: 'destination',
    says: /lies in a Git repository/,
  },
  {
    name: 'a destination of which the source has a lost worktree on record',
    launch: async ({ git, directory }) => {
      const lost = join(directory, 'lost')
      await git(['worktree', 'add', '--quiet', '--detach', '--lock', lost])
      await rm(lost, { recursive: true })
      return { destination: lost }
    },
    code: 'invalid_destination',
    field: 'destination',
    says: /on record there that is missing, locked/,
  },
  {
    name: 'a destination in another worktree of the source',
    launch: async ({ git, directory }) => {
      await git(['worktree', 'add', '--quiet', '--detach', join(directory, 'linked')])
      return { destination: join(directory, 'linked', 'there') }
    },
    code: 'invalid_destination',
    field: 'destination',
    says: /lies in a Git repository/,
  },
]

describe('a launch that is refused changes nothing', () => {
  let world: World
  let bridge: Bridge
  beforeAll(async () => {
    world = await startWorld({ version: NEWEST_CODEX })
    bridge = await startLauncher({ socketPath: world.socketPath })
  })
  afterAll(async () => {
    await bridge?.close()
    await world?.close()
  })

  const threads = async (): Promise<unknown> => {
    const client = await world.openClient()
    const loaded = await client.call('thread/loaded/list', {})
    await client.close()
    return loaded
  }

  it.each(refusals)('$name: $code', async ({ launch, code, field, says }) => {
    const repository = await createRepository()
    try {
      const args = launchOf(repository, await launch(repository))
      const before = [await listing(repository.directory), await threads()]
      const refused = await bridge.call('create_worktree_thread', args).catch((error: unknown) => error)
      expect(refused).toMatchObject({
        code,
        next: 'fix_call',
        ...(field === undefined ? {} : { field }),
        message: expect.stringMatching(says) as unknown,
      })
      expect([await listing(repository.directory), await threads()]).toEqual(before)
      if (typeof args.request_id === 'string')
        await expect(bridge.receipt(args.request_id)).rejects.toMatchObject({ code: 'unknown_request' })
    } finally {
      await repository.remove()
    }
  })

  it('a project that the App Server does not have: nothing is made, and the receipt says so', async () => {
    const repository = await createRepository()
    try {
      const launch = launchOf(repository, { app_server_project_id: 'no-such-project' })
      const before = [await listing(repository.directory), await threads()]
      expect(await bridge.call('create_worktree_thread', launch)).toMatchObject({
        status: 'failed',
        next: 'new_request_id',
        error: { code: 'unknown_project' },
        phase: 'validating',
        worktree: { state: 'planned' },
        recoveryRequired: false,
        steps: [],
      })
      expect([await listing(repository.directory), await threads()]).toEqual(before)
    } finally {
      await repository.remove()
    }
  })

  it('a parent that may not be written to: nothing is made, and the receipt says so', async () => {
    const repository = await createRepository()
    const parent = join(repository.directory, 'parent')
    await mkdir(parent)
    await chmod(parent, 0o555)
    try {
      const launch = launchOf(repository, { destination: join(parent, 'there') })
      if (process.getuid?.() === 0) return
      const receipt = await bridge.call('create_worktree_thread', launch)
      expect(receipt).toMatchObject({
        status: 'failed',
        next: 'new_request_id',
        error: { code: 'invalid_destination' },
        worktree: { state: 'planned' },
        recoveryRequired: false,
      })
    } finally {
      await chmod(parent, 0o755)
      await repository.remove()
    }
  })
})
