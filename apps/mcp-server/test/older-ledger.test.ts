import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { startMcpClient, tempDir, type McpClientProcess } from '@codex-thread-bridge/test-fixtures'
import { afterAll, describe, expect, test } from 'vitest'
import { DEFAULTS_FINGERPRINT, writeOlderLedger } from './older-ledger.ts'
import { mainPath, runBridge } from './run-bridge.ts'

const place = tempDir('ol')
afterAll(() => place.remove())

let count = 0
/** A state directory of its own, and a socket that nobody listens on. */
const fresh = () => {
  count += 1
  const stateDir = join(place.path, `state-${String(count)}`)
  const socketPath = join(place.path, `${String(count)}.sock`)
  return { stateDir, socketPath, options: ['--socket', socketPath, '--state-dir', stateDir] }
}

/** An MCP client that knows every tool's output schema, and holds the answers to it. */
const connected = async (options: readonly string[]): Promise<McpClientProcess> => {
  const client = await startMcpClient({ command: process.execPath, args: [mainPath, ...options] })
  await client.tools()
  return client
}

const thread = '01a00000-0000-7000-8000-000000000001'

describe('receipts of the Python bridge, without an App Server', () => {
  test('replay for the same call, in the shape that the tool promises', async () => {
    const { options, ...where } = fresh()
    writeOlderLedger(where, [
      {
        requestId: 'older',
        fingerprint: DEFAULTS_FINGERPRINT,
        members: {
          threadId: thread,
          title: 'Colours',
          creation: { thread: { id: thread, turns: [] } },
          desktopProjectAssociation: 'unverified; check Desktop listing',
        },
      },
    ])
    const client = await connected(options)
    const replay = await client.call('create_thread', { request_id: 'older', cwd: '/srv/app', prompt: null })
    expect(replay.structured).toMatchObject({
      requestId: 'older',
      status: 'accepted',
      next: 'none',
      threadId: thread,
      replayed: true,
      desktopProjectAssociation: { status: 'unverified; check Desktop listing' },
    })
    const other = await client.call('create_thread', { request_id: 'older', cwd: '/srv/app', prompt: 'more' })
    expect(other.error).toMatchObject({ code: 'request_conflict', next: 'new_request_id' })
    const ours = { request_id: 'older', cwd: '/srv/app', permissions: ':read-only' }
    expect((await client.call('create_thread', ours)).error?.code).toBe('request_conflict')
    await client.close()
  })

  test('that are uncertain are never told to be not sent: they have no journal', async () => {
    const { options, ...where } = fresh()
    const open = { status: 'in_progress_or_unknown', operation: 'send_message_to_thread', threadId: thread }
    writeOlderLedger(where, [{ requestId: 'open', fingerprint: 'f', members: open }])
    const { code, stdout } = await runBridge([...options, 'operations', 'reconcile', 'open', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'outcome_unknown',
      next: 'reconcile',
      reconciliation: { verdict: 'unknowable' },
    })
  })
})

describe('a ledger under another name of the socket', () => {
  test('is taken over by the first call that needs receipts', async () => {
    const { options, stateDir, socketPath } = fresh()
    const target = join(place.path, 'codex-daemon-1000', 'a1b2')
    symlinkSync(target, socketPath)
    const older = writeOlderLedger(
      { stateDir, socketPath },
      [{ requestId: 'older', fingerprint: 'f' }],
      target,
    )
    const { code, stdout } = await runBridge([...options, 'operations', 'show', 'older', '--json'])
    expect({ code, receipt: JSON.parse(stdout) as unknown }).toMatchObject({
      code: 0,
      receipt: { requestId: 'older', status: 'accepted' },
    })
    expect(existsSync(older)).toBe(true)
  })

  test('with another receipt of the same request id stops the server before it serves', async () => {
    const { options, stateDir, socketPath } = fresh()
    const target = join(place.path, 'codex-daemon-1000', 'c3d4')
    symlinkSync(target, socketPath)
    const own = writeOlderLedger({ stateDir, socketPath }, [{ requestId: 'twice', fingerprint: 'f' }])
    const rows = [{ requestId: 'twice', fingerprint: 'g' }]
    const other = writeOlderLedger({ stateDir, socketPath }, rows, target)
    const { code, stdout, stderr } = await runBridge(options)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(JSON.parse(stderr)).toMatchObject({
      level: 'error',
      code: 'ledger_import_conflict',
      message: `request_id "twice" stands in ${own} and in ${other} with different contents.`,
    })
    // What is there can still be looked at and kept.
    const exported = await runBridge([...options, 'operations', 'export'])
    expect([exported.code, exported.stdout.split('\n').length]).toEqual([0, 1])
    const listed = await runBridge([...options, 'operations', 'list'])
    expect([listed.code, listed.stderr.split(':')[0]]).toEqual([1, 'ledger_import_conflict'])
  })
})
