import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { canonicalJson, type LedgerRow } from '../../src/ledger/index.ts'
import { sha256 } from '../../src/ledger/fingerprint.ts'
import { isPythonReplay } from '../../src/ledger/python-fingerprint.ts'
import { resolveAsPython } from '../../src/ledger/python-path.ts'
import { directory, receipt } from './support.ts'

const Golden = Type.Array(
  Type.Object({ note: Type.String(), operation: Type.String(), fingerprint: Type.String() }),
)
const golden = Value.Parse(
  Golden,
  JSON.parse(readFileSync(new URL('python/fingerprints.json', import.meta.url), 'utf8')),
)

type Args = Readonly<Record<string, unknown>>

/** A row as the Python bridge left it; version 1 wrote no version. */
const rowOf = (fingerprint: string, version: 1 | 2 | 3 = 2): LedgerRow => {
  const { fingerprintVersion: _ours, ...left } = receipt('r')
  return { fingerprint, receipt: version === 1 ? left : { ...left, fingerprintVersion: version } }
}

const goldenRow = (note: string): LedgerRow => {
  const found = golden.find((one) => one.note === note)
  if (found === undefined) throw new Error(`no golden fingerprint "${note}"`)
  return rowOf(found.fingerprint)
}

/** A row over the parameters of a call of the Python bridge. */
const made = (operation: string, params: Args, version: 1 | 2 | 3 = 2): LedgerRow =>
  rowOf(sha256(canonicalJson([operation, params], { nulls: 'keep' })), version)

const never: (path: string) => string = () => {
  throw new Error('looked at the file system')
}

const replays = (row: LedgerRow, operation: string, args: Args, resolve = never): boolean =>
  isPythonReplay(row, 'bridge', operation, { request_id: 'r', ...args }, resolve)

const policy = {
  type: 'workspaceWrite',
  writableRoots: ['/srv/cache'],
  networkAccess: false,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: true,
}
const worktree = {
  source_repository: '/srv/app',
  starting_revision: '0123456789abcdef0123456789abcdef01234567',
  destination: '/srv/wt/one',
  worktree_mode: 'bridge-managed-retained',
  sandbox: 'read-only',
  expected_sandbox_policy: { type: 'readOnly', networkAccess: false },
}

/** Each golden fingerprint, and the call of ours that means the same. */
const calls: readonly (readonly [note: string, operation: string, args: Args])[] = [
  ['v2: every default', 'create_thread', { cwd: '/srv/app' }],
  ['v2: white space kept', 'create_thread', { cwd: '/srv/app', prompt: '  exact\nmessage  ', title: 'Demo' }],
  [
    'v2: non-ASCII is escaped as \\uXXXX, astral characters as surrogate pairs',
    'create_thread',
    { cwd: '/srv/größe/日本 語', prompt: 'naïve ✓ 😀' },
  ],
  [
    'v2: model and project',
    'create_thread',
    { cwd: '/srv/app', sandbox: 'workspace-write', model: 'gpt-5.5', app_server_project_id: 'proj-1' },
  ],
  [
    'v2: explicit policy',
    'create_thread',
    { cwd: '/srv/app', sandbox: 'workspace-write', sandbox_policy: policy },
  ],
  [
    'v2: message',
    'send_message_to_thread',
    { thread_id: '01a22d6c-ee00-7d30-84f1-a4cd16c32862', message: 'follow up' },
  ],
  ['v2: worktree', 'create_worktree_thread', worktree],
]

test('there is a call for every golden fingerprint', () => {
  expect(calls.map(([note]) => note)).toEqual(golden.map(({ note }) => note))
})

describe('a receipt of version 2', () => {
  test.each(calls)(
    'replays for the same call, without a look at the file system (%s)',
    (note, operation, args) => {
      expect(replays(goldenRow(note), operation, args)).toBe(true)
    },
  )

  test.each(calls)('conflicts with every other call (%s)', (note) => {
    const others = calls.filter(([other]) => other !== note)
    expect(others.filter(([, operation, args]) => replays(goldenRow(note), operation, args))).toEqual([])
  })

  test.each([
    [
      'create_thread',
      'v2: every default',
      { cwd: '/srv/app' },
      ['permissions', 'reasoning_effort', 'anything'],
    ],
    [
      'send_message_to_thread',
      'v2: message',
      { thread_id: '01a22d6c-ee00-7d30-84f1-a4cd16c32862', message: 'follow up' },
      ['if_busy', 'on_settings_drift'],
    ],
    ['create_worktree_thread', 'v2: worktree', worktree, ['sandbox_policy', 'permissions']],
  ])(
    'of %s conflicts with a call that has an argument which Python did not have',
    (operation, note, args, names) => {
      const row = goldenRow(note)
      expect(names.filter((name) => replays(row, operation, { ...args, [name]: 'refuse' }))).toEqual([])
      expect(names.filter((name) => replays(row, operation, { ...args, [name]: undefined }))).toEqual(names)
    },
  )

  test('of a policy knows its reviewer, and says so where none was named', () => {
    const args = { cwd: '/srv/app', sandbox: 'workspace-write', sandbox_policy: policy }
    const row = goldenRow('v2: explicit policy')
    expect(replays(row, 'create_thread', { ...args, approvals_reviewer: 'auto_review' })).toBe(true)
    expect(replays(row, 'create_thread', { ...args, approvals_reviewer: 'user' })).toBe(false)
    expect(replays(row, 'create_thread', { ...args, sandbox: undefined })).toBe(false)
    const open = { ...policy, networkAccess: true }
    expect(replays(row, 'create_thread', { ...args, sandbox_policy: open })).toBe(false)
  })

  test('of a policy without settings of its own has no config', () => {
    const params = {
      cwd: '/srv/app',
      sandbox: 'read-only',
      approvalPolicy: 'never',
      approvalsReviewer: 'auto_review',
      ephemeral: false,
      prompt: null,
      title: null,
      sandbox_policy: { type: 'readOnly', networkAccess: false },
      approvals_reviewer: 'auto_review',
    }
    const args = { cwd: '/srv/app', sandbox_policy: params.sandbox_policy }
    expect(replays(made('create_thread', params), 'create_thread', args)).toBe(true)
  })

  test('of approvals on request names the reviewer', () => {
    const params = {
      cwd: '/srv/app',
      sandbox: 'read-only',
      approvalPolicy: 'on-request',
      approvalsReviewer: 'auto_review',
      ephemeral: false,
      prompt: null,
      title: null,
    }
    const args = { cwd: '/srv/app', approval_policy: 'on-request', approvals_reviewer: 'auto_review' }
    expect(replays(made('create_thread', params), 'create_thread', args)).toBe(true)
  })

  test('does not follow links', () => {
    const root = directory()
    mkdirSync(join(root, 'app'))
    symlinkSync(join(root, 'app'), join(root, 'link'))
    const row = made('create_thread', paramsOf(join(root, 'app')))
    expect(replays(row, 'create_thread', { cwd: join(root, 'link') })).toBe(false)
  })
})

const paramsOf = (cwd: string): Args => ({
  cwd,
  sandbox: 'read-only',
  approvalPolicy: 'never',
  ephemeral: false,
  prompt: null,
  title: null,
})

describe('a receipt of version 1', () => {
  const setUp = () => {
    const root = directory()
    const app = join(root, 'app')
    mkdirSync(app)
    symlinkSync(app, join(root, 'link'))
    return { app, link: join(root, 'link'), row: made('create_thread', paramsOf(app), 1) }
  }

  test('replays for the directory and for a link to it', () => {
    const { app, link, row } = setUp()
    expect(replays(row, 'create_thread', { cwd: link }, resolveAsPython)).toBe(true)
    expect(replays(row, 'create_thread', { cwd: `${link}/../app/` }, resolveAsPython)).toBe(true)
    expect(replays(row, 'create_thread', { cwd: app })).toBe(true)
  })

  test('replays when the directory is gone, as far as a link still leads there', () => {
    const { app, link, row } = setUp()
    rmSync(app, { recursive: true })
    expect(replays(row, 'create_thread', { cwd: link }, resolveAsPython)).toBe(true)
    expect(replays(row, 'create_thread', { cwd: app }, resolveAsPython)).toBe(true)
    rmSync(link)
    expect(replays(row, 'create_thread', { cwd: link }, resolveAsPython)).toBe(false)
  })

  test('conflicts when the link leads elsewhere now', () => {
    const { app, link, row } = setUp()
    rmSync(link)
    symlinkSync(`${app}2`, link)
    expect(replays(row, 'create_thread', { cwd: link }, resolveAsPython)).toBe(false)
  })

  test('of a message has no directory to resolve', () => {
    const row = made('send_message_to_thread', { threadId: 't', message: 'm' }, 1)
    expect(replays(row, 'send_message_to_thread', { thread_id: 't', message: 'm' })).toBe(true)
    expect(replays(row, 'send_message_to_thread', { thread_id: 't', message: 'n' })).toBe(false)
  })

  test('may say its version', () => {
    const { link, row } = setUp()
    const said = { ...row, receipt: { ...row.receipt, fingerprintVersion: 1 } }
    expect(replays(said, 'create_thread', { cwd: link }, resolveAsPython)).toBe(true)
  })
})

test('a row of our own never counts as one of Python’s', () => {
  expect(replays(made('create_thread', paramsOf('/srv/app'), 3), 'create_thread', { cwd: '/srv/app' })).toBe(
    false,
  )
})

test('another family’s tool of the same name never replays', () => {
  const row = goldenRow('v2: every default')
  expect(isPythonReplay(row, 'codex-app', 'create_thread', { cwd: '/srv/app' })).toBe(false)
})

test('an operation that Python did not have never replays', () => {
  expect(replays(goldenRow('v2: every default'), 'constructor', { cwd: '/srv/app' })).toBe(false)
})

describe('resolveAsPython', () => {
  test('follows links in the middle and at the end, also relative ones, and takes .. after them', () => {
    const root = directory()
    mkdirSync(join(root, 'a', 'b'), { recursive: true })
    symlinkSync(join('a', 'b'), join(root, 'link'))
    symlinkSync('../../gone', join(root, 'a', 'b', 'dangling'))
    expect(resolveAsPython(`${root}/link`)).toBe(join(root, 'a', 'b'))
    expect(resolveAsPython(`${root}/link/../c//./d/`)).toBe(join(root, 'a', 'c', 'd'))
    expect(resolveAsPython(`${root}/link/dangling/x`)).toBe(join(root, 'gone', 'x'))
    expect(resolveAsPython(`${root}/no/such/../path`)).toBe(join(root, 'no', 'path'))
  })

  test('ends at a circle of links and above the root, and takes any text', () => {
    const root = directory()
    symlinkSync(join(root, 'b'), join(root, 'a'))
    symlinkSync(join(root, 'a'), join(root, 'b'))
    expect(resolveAsPython(join(root, 'a'))).toMatch(/\/[ab]$/)
    expect(resolveAsPython('/../..')).toBe('/')
    expect(resolveAsPython('/srv/a\0b')).toBe('/srv/a\0b')
    expect(resolveAsPython('')).toBe('/')
  })
})
