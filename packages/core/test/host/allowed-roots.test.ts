import { mkdir, realpath, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { tempDir, type TempDir } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StepAccess } from '../../src/contract/tool.ts'
import type { Params } from '../../src/protocol/methods.ts'
import {
  environment,
  ID,
  readOnly,
  receiptOf,
  resume,
  run,
  start,
  startTurn,
  inOrder,
  workspaceWrite,
  type Body,
} from './gated-mutation.ts'

describe('the allowed roots', () => {
  let folder: TempDir
  let allowed: string
  let outside: string
  let link: string
  beforeAll(async () => {
    folder = tempDir('roots')
    const root = await realpath(folder.path)
    allowed = join(root, 'a')
    outside = join(root, 'ab')
    link = join(allowed, 'link')
    await mkdir(allowed)
    await mkdir(outside)
    await symlink(outside, link)
  })
  afterAll(() => folder.remove())

  const below = () => ({ allowRoots: [allowed] })
  const custom = (root: string) => ({
    sandbox: 'workspace-write',
    config: {
      sandbox_workspace_write: {
        writable_roots: [root],
        network_access: false,
        exclude_tmpdir_env_var: false,
        exclude_slash_tmp: false,
      },
    },
  })

  it('hold what is in them', async () => {
    const { outcome } = await run(start({ ...custom(join(allowed, 'new')), cwd: allowed }), {
      ceiling: below(),
      answers: { 'thread/start': environment(readOnly) },
    })
    expect(receiptOf(outcome).status).toBe('accepted')
  })

  it.each<[string, () => Partial<Params<'thread/start'>>, () => string]>([
    ['a directory beside them', () => ({ cwd: outside, sandbox: 'read-only' }), () => outside],
    ['a link out of them', () => ({ cwd: link, sandbox: 'read-only' }), () => link],
    [
      'a path back out of them',
      () => ({ cwd: `${allowed}/../ab`, sandbox: 'read-only' }),
      () => `${allowed}/../ab`,
    ],
    ['a writable root beside them', () => ({ cwd: allowed, ...custom(outside) }), () => outside],
    [
      'a workspace root beside them',
      () => ({ cwd: allowed, sandbox: 'read-only', runtimeWorkspaceRoots: [outside] }),
      () => outside,
    ],
  ])('refuse %s', async (_, params, named) => {
    const { outcome, called, rows } = await run(start(params()), { ceiling: below() })
    expect(outcome).toMatchObject({
      code: 'ceiling_exceeded',
      next: 'fix_call',
      message: `The new thread would work in ${named()}: this bridge works only in ${allowed} (--allow-root).`,
    })
    expect([called, rows]).toEqual([[], 0])
  })

  it('cannot be compared with a relative path, which is told as such', async () => {
    const named = start({ cwd: 'a', sandbox: 'read-only' })
    const { outcome, called, rows } = await run(named, { ceiling: below() })
    expect(outcome).toMatchObject({
      code: 'invalid_cwd',
      next: 'fix_call',
      message: 'The new thread would work in a: the path must be absolute.',
    })
    expect([called, rows]).toEqual([[], 0])
  })

  it.each<[string, () => object]>([
    ['works beside them', () => ({ cwd: outside })],
    ['works where a link of them leads', () => ({ cwd: link })],
    ['belongs beside them', () => ({ thread: { id: ID, cwd: outside, status: { type: 'idle' } } })],
    ['may write beside them', () => ({ sandbox: workspaceWrite({ writableRoots: [outside] }) })],
    ['has a workspace root beside them', () => ({ runtimeWorkspaceRoots: [allowed, outside] })],
  ])('keep a message from a thread that %s', async (_, members) => {
    const inside = { cwd: allowed, thread: { id: ID, cwd: allowed, status: { type: 'idle' } } }
    const { outcome, called } = await run(inOrder(resume, startTurn()), {
      answers: { 'thread/resume': environment(readOnly, { ...inside, ...members() }) },
      ceiling: below(),
    })
    expect(receiptOf(outcome)).toMatchObject({
      status: 'failed',
      next: 'new_request_id',
      error: { code: 'ceiling_exceeded' },
    })
    expect(called).toEqual(['thread/resume'])
  })

  it.each<[string, () => StepAccess, boolean]>([
    ['works in them', () => ({ cwd: allowed, roots: [join(allowed, 'new', 'tree')] }), true],
    ['writes beside them', () => ({ cwd: allowed, roots: [join(outside, 'tree')] }), false],
    ['works beside them', () => ({ cwd: outside }), false],
    [
      'starts what may write beside them',
      () => ({
        cwd: allowed,
        policy: {
          type: 'workspaceWrite',
          writableRoots: [outside],
          networkAccess: false,
          excludeTmpdirEnvVar: true,
          excludeSlashTmp: true,
        },
      }),
      false,
    ],
  ])('judge a step that %s', async (_, access, may) => {
    let done = false
    const step: Body = (ctx) => ctx.step('git worktree add', async () => (done = true), { access: access() })
    const { outcome, rows } = await run(step, { ceiling: below() })
    expect([done, rows]).toEqual([may, may ? 1 : 0])
    if (!may) expect(outcome).toMatchObject({ code: 'ceiling_exceeded', next: 'fix_call' })
  })
})
