import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { listAt, startWorld, testedVersions, textAt, type World } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshId, startBridge, type Bridge } from './bridge.ts'

const userTexts = async (world: World, threadId: string): Promise<string[]> => {
  const client = await world.openClient()
  const page = await client.call('thread/items/list', { threadId, limit: 100, sortDirection: 'asc' })
  await client.close()
  return listAt(page, 'data')
    .filter((row) => textAt(row, 'item.type') === 'userMessage')
    .map((row) => textAt(row, 'item.content.0.text'))
}

describe.each(testedVersions)('create_thread on App Server %s', (version) => {
  let world: World
  let bridge: Bridge

  beforeAll(async () => {
    world = await startWorld({ version, config: 'sandbox_mode = "danger-full-access"' })
    bridge = await startBridge({ socketPath: world.socketPath })
  })
  afterAll(async () => {
    await bridge?.close()
    await world?.close()
  })

  it('creates a durable, named, read-only thread and records the prompt', async () => {
    const request_id = freshId('create')
    const receipt = await bridge.call('create_thread', {
      request_id,
      cwd: world.cwd,
      title: 'Tïtle',
      prompt: 'Do it.',
    })
    expect(receipt).toMatchObject({
      requestId: request_id,
      operation: 'create_thread',
      family: 'bridge',
      status: 'accepted',
      next: 'none',
      retrySafe: false,
      replayed: false,
      durable: true,
      restartSafe: true,
      requestedAs: 'permissions',
      title: 'Tïtle',
      verifiedEnvironment: { matches: true, differences: [] },
      delivery: { state: 'recorded', as: 'turn' },
      desktopProjectAssociation: { status: 'unverified' },
    })
    expect(receipt.steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'thread/start answered',
      'thread/section/move answered',
      'thread/settings/update answered',
      'thread/name/set answered',
      'turn/start answered',
      'thread/unsubscribe answered',
    ])
    expect(receipt).not.toHaveProperty('owner')
    const client = await world.openClient()
    const read = await client.call('thread/read', { threadId: receipt.threadId })
    expect(textAt(read, 'thread.name')).toBe('Tïtle')
    expect(textAt(read, 'thread.threadSource')).toBe(receipt.deliveryMarker)
  })

  it.each([
    ['white space', '  first\n\n\tsecond  \n'],
    ['Unicode', 'größe 日本語 😀 e\u0301 \u200b \u2028 NUL-free'],
    ['one MiB of text', `${'x'.repeat(1_048_575)}!`],
  ])('sends a prompt with %s exactly', async (_, prompt) => {
    const receipt = await bridge.call('create_thread', {
      request_id: freshId('exact'),
      cwd: world.cwd,
      prompt,
    })
    expect(receipt.status).toBe('accepted')
    expect(await userTexts(world, receipt.threadId ?? '')).toEqual([prompt])
  })

  it('refuses a longer prompt with size and limit, and leaves no receipt', async () => {
    const request_id = freshId('long')
    const call = bridge.call('create_thread', { request_id, cwd: world.cwd, prompt: 'x'.repeat(1_048_577) })
    await expect(call).rejects.toMatchObject({
      code: 'invalid_arguments',
      field: 'prompt',
      message: '`prompt` must have at most 1,048,576 characters, it has 1,048,577.',
    })
    await expect(bridge.receipt(request_id)).rejects.toMatchObject({ code: 'unknown_request' })
  })

  it('dispatches once for three calls at the same time', async () => {
    const before = world.proxy.sent('thread/start').length
    const args = { request_id: freshId('three'), cwd: world.cwd, prompt: 'once' }
    const receipts = await Promise.all([1, 2, 3].map(() => bridge.call('create_thread', args)))
    expect(world.proxy.sent('thread/start').length - before).toBe(1)
    expect(receipts.map(({ threadId }) => threadId)).toEqual(Array(3).fill(receipts[0]?.threadId))
    expect(receipts.map(({ replayed }) => replayed)).toEqual([false, true, true])
  })

  it('refuses the same id with other arguments and sends nothing', async () => {
    const args = { request_id: freshId('conflict'), cwd: world.cwd }
    await bridge.call('create_thread', args)
    const before = world.proxy.log.length
    await expect(bridge.call('create_thread', { ...args, title: 'other' })).rejects.toMatchObject({
      code: 'request_conflict',
      field: 'request_id',
      next: 'new_request_id',
    })
    expect(world.proxy.log.length).toBe(before)
  })

  it('replays when the directory is gone', async () => {
    const cwd = join(world.cwd, 'gone')
    await mkdir(cwd)
    const args = { request_id: freshId('gone'), cwd }
    const first = await bridge.call('create_thread', args)
    await rm(cwd, { recursive: true })
    expect(await bridge.call('create_thread', args)).toEqual({ ...first, replayed: true })
  })

  it('replays when a symlink leads elsewhere now', async () => {
    const [link, one, two] = ['link', 'one', 'two'].map((name) => join(world.cwd, name)) as [
      string,
      string,
      string,
    ]
    await mkdir(one)
    await mkdir(two)
    await symlink(one, link)
    const args = { request_id: freshId('link'), cwd: link }
    const first = await bridge.call('create_thread', args)
    expect(first.creation).toMatchObject({ cwd: one })
    await symlink(two, `${link}.new`)
    await rename(`${link}.new`, link)
    expect(await bridge.call('create_thread', args)).toEqual({ ...first, replayed: true })
  })

  it.each([
    ['a directory that is missing', (cwd: string) => join(cwd, 'missing'), 'does not exist'],
    ['a file', () => process.execPath, 'is not a directory'],
    ['a relative path', () => 'src', 'must be an absolute path'],
  ])('refuses %s before anything is touched', async (_, cwdOf, what) => {
    const request_id = freshId('cwd')
    const before = world.proxy.sent('thread/start').length
    const call = bridge.call('create_thread', { request_id, cwd: cwdOf(world.cwd) })
    await expect(call).rejects.toMatchObject({
      code: 'invalid_cwd',
      field: 'cwd',
      next: 'fix_call',
      message: expect.stringContaining(what) as string,
    })
    expect(world.proxy.sent('thread/start').length).toBe(before)
    await expect(bridge.receipt(request_id)).rejects.toMatchObject({ code: 'unknown_request' })
  })

  it.each([
    ['cwd', { cwd: '/elsewhere' }],
    ['thread.cwd', { thread: { cwd: '/elsewhere' } }],
    ['sandbox.type', { sandbox: { type: 'dangerFullAccess' } }],
    ['sandbox.networkAccess', { sandbox: { type: 'readOnly', networkAccess: true } }],
    ['sandbox.gpuAccess', { sandbox: { type: 'readOnly', networkAccess: false, gpuAccess: true } }],
    ['approvalPolicy', { approvalPolicy: 'on-request' }],
    ['approvalsReviewer', { approvalsReviewer: 'auto_review' }],
    ['activePermissionProfile.id', { activePermissionProfile: null }],
    ['model', { model: 'another' }],
    ['reasoningEffort', { reasoningEffort: 'low' }],
    ['projectId', { thread: { projectId: 'another' } }],
  ])('withholds the prompt when %s differs', async (field, change: Record<string, unknown>) => {
    const client = await world.openClient()
    const project = await client.call('project/create', { name: 'p', roots: [], idempotencyKey: 'p' })
    const rule = world.proxy.on(
      { direction: 'to-client', kind: 'response', method: 'thread/start' },
      { rewrite: (message) => changed(message, change) },
    )
    const before = world.proxy.log.length
    const receipt = await bridge.call('create_thread', {
      request_id: freshId('mismatch'),
      cwd: world.cwd,
      prompt: 'never sent',
      title: 'never set',
      approvals_reviewer: 'user',
      model: 'scripted',
      reasoning_effort: 'high',
      app_server_project_id: textAt(project, 'project.id'),
    })
    rule.remove()
    expect(receipt).toMatchObject({
      status: 'failed',
      next: 'inspect',
      error: { code: 'environment_mismatch' },
    })
    expect(receipt.verifiedEnvironment?.differences.map((difference) => difference.field)).toContain(field)
    expect(receipt.threadId).toBeTypeOf('string')
    const sentAfter = world.proxy.log
      .slice(before)
      .filter(({ kind, direction }) => kind === 'request' && direction === 'to-server')
    expect(sentAfter.map(({ method }) => method).at(-1)).toBe('thread/start')
  })
})

/** A response with members of its result replaced, one level deep. */
const changed = (message: unknown, change: Record<string, unknown>): unknown => {
  const { result, ...rest } = message as { result: Record<string, unknown> }
  const merged = Object.entries(change).map(([key, value]) => [
    key,
    key === 'thread' ? { ...(result.thread as object), ...(value as object) } : value,
  ])
  return { ...rest, result: { ...result, ...(Object.fromEntries(merged) as object) } }
}
