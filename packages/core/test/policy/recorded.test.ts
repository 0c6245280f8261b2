import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tempDir, type TempDir } from '@codex-thread-bridge/test-fixtures'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Receipt } from '../../src/ledger/receipt.ts'
import { sandboxOfPermissions } from '../../src/policy/permission-entries.ts'
import {
  newestRecord,
  recordOfReceipts,
  restoring,
  type EnvironmentRecord,
} from '../../src/policy/recorded.ts'
import { rolloutRecords } from '../../src/policy/rollout.ts'

const readOnly: EnvironmentRecord = {
  source: 'turn_context',
  at: 1_000,
  sandbox: { type: 'readOnly', networkAccess: false },
  whole: true,
  cwd: '/w',
  approvalPolicy: 'never',
  approvalsReviewer: 'user',
  model: 'm',
  reasoningEffort: null,
  profile: null,
}
const full: EnvironmentRecord = { ...readOnly, sandbox: { type: 'dangerFullAccess' } }

describe('the newest record', () => {
  it('is the one with the latest timestamp, whatever the order', () => {
    const later: EnvironmentRecord = { ...full, at: 2_000 }
    expect(newestRecord([later, readOnly])).toBe(later)
    expect(newestRecord([readOnly, undefined, later])).toBe(later)
    expect(newestRecord([undefined])).toBeUndefined()
  })

  it('passes over applied settings that widen the access without a profile', () => {
    const applied: EnvironmentRecord = { ...full, source: 'settings', at: 2_000 }
    expect(newestRecord([readOnly, applied])).toBe(readOnly)
    const network: EnvironmentRecord = {
      ...readOnly,
      source: 'settings',
      at: 2_000,
      sandbox: { type: 'readOnly', networkAccess: true },
    }
    expect(newestRecord([readOnly, network])).toBe(readOnly)
  })

  it('believes applied settings that name a profile, that narrow, or that nothing stands against', () => {
    const profile: EnvironmentRecord = {
      ...full,
      source: 'settings',
      at: 2_000,
      profile: ':danger-full-access',
    }
    expect(newestRecord([readOnly, profile])).toBe(profile)
    const narrower: EnvironmentRecord = { ...readOnly, source: 'settings', at: 2_000 }
    expect(newestRecord([full, narrower])).toBe(narrower)
    const alone: EnvironmentRecord = { ...full, source: 'settings' }
    expect(newestRecord([alone])).toBe(alone)
  })

  it('believes a turn that ran under wider access', () => {
    const turn: EnvironmentRecord = { ...full, at: 3_000 }
    const applied: EnvironmentRecord = { ...full, source: 'settings', at: 2_000 }
    expect(newestRecord([readOnly, applied, turn])).toBe(turn)
  })
})

const answer = (sandbox: object) => ({
  thread: { id: 't', cwd: '/w', status: { type: 'idle' } },
  cwd: '/w',
  model: 'm',
  approvalPolicy: 'never',
  approvalsReviewer: 'user',
  sandbox,
  activePermissionProfile: null,
  reasoningEffort: null,
})
const receipt = (more: Partial<Receipt>): Receipt => ({
  requestId: 'r',
  operation: 'send_message_to_thread',
  status: 'accepted',
  startedAt: 1,
  updatedAt: 9,
  retrySafe: false,
  next: 'none',
  steps: [{ name: 'thread/resume', state: 'answered', at: 5 }],
  ...more,
})

describe('the record of receipts', () => {
  const verified = { verifiedEnvironment: { matches: true, differences: [] } }

  it('is the newest verified answer, at the time it was told', () => {
    const sandbox = { type: 'readOnly', networkAccess: false }
    const unverified = receipt({ resumed: answer({ type: 'dangerFullAccess' }) })
    const found = recordOfReceipts([unverified, receipt({ ...verified, resumed: answer(sandbox) })])
    expect(found).toMatchObject({ source: 'receipt', at: 5_000, sandbox })
  })

  it('is what was read back after a restored message', () => {
    const found = recordOfReceipts([
      receipt({
        ...verified,
        resumed: answer({ type: 'dangerFullAccess' }),
        effective: answer({ type: 'readOnly' }),
      }),
    ])
    expect(found?.sandbox).toEqual({ type: 'readOnly', networkAccess: false })
  })

  const drifted = {
    status: 'failed' as const,
    recorded: readOnly,
    resumed: answer({ type: 'dangerFullAccess' }),
    verifiedEnvironment: { matches: false, differences: [] },
  }

  it.each(['settings_drifted', 'ceiling_exceeded', 'escalation_refused', 'thread_busy', 'not_sent'])(
    'is what was expected when a drift was followed by %s, as of the end of that call',
    (code) => {
      const refused = receipt({ ...drifted, error: { code, message: '' } })
      expect(recordOfReceipts([refused])).toEqual({ ...readOnly, source: 'receipt', at: 9_000 })
    },
  )

  it('is nothing when a message followed a drift: its turn is the record', () => {
    const step = (name: string) => ({ name, state: 'answered' as const, at: 5 })
    const steps = [step('thread/resume'), step('turn/start'), step('thread/unsubscribe')]
    const error = { code: 'environment_mismatch', message: '' }
    expect(recordOfReceipts([receipt({ ...drifted, error, steps })])).toBeUndefined()
  })
})

describe('restoring', () => {
  it('names the recorded profile, else the whole policy', () => {
    expect(restoring({ ...readOnly, profile: ':read-only' })).toEqual({
      permissions: ':read-only',
      approvalPolicy: 'never',
      approvalsReviewer: 'user',
      model: 'm',
    })
    expect(restoring({ ...readOnly, reasoningEffort: 'high' })).toMatchObject({
      sandboxPolicy: { type: 'readOnly', networkAccess: false },
      effort: 'high',
    })
  })

  it('is not possible for a sandbox that is known by its type alone', () => {
    expect(restoring({ ...readOnly, whole: false })).toBeUndefined()
    expect(restoring({ ...readOnly, sandbox: { type: 'externalSandbox' } })).toBeUndefined()
  })
})

describe('the sandbox of a permission profile in a rollout', () => {
  const write = (path: string) => ({ path: { type: 'path', path }, access: 'write' })
  const special = (kind: string) => ({ path: { type: 'special', value: { kind } }, access: 'write' })
  const managed = (network: string, ...entries: object[]) => ({
    type: 'managed',
    file_system: {
      type: 'restricted',
      entries: [{ path: { type: 'special', value: { kind: 'root' } }, access: 'read' }, ...entries],
    },
    network,
  })

  it.each([
    ['no limits', { type: 'disabled' }, { type: 'dangerFullAccess' }, true],
    ['reading alone', managed('restricted'), { type: 'readOnly', networkAccess: false }, true],
    ['reading and network', managed('enabled'), { type: 'readOnly', networkAccess: true }, true],
    [
      'the directory and both temporary ones',
      managed('restricted', write('/w'), special('slash_tmp'), special('tmpdir')),
      {
        type: 'workspaceWrite',
        writableRoots: [],
        networkAccess: false,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      },
      true,
    ],
    [
      'roots, listed twice',
      managed('enabled', write('/w'), write('/x'), write('/x')),
      {
        type: 'workspaceWrite',
        writableRoots: ['/x'],
        networkAccess: true,
        excludeTmpdirEnvVar: true,
        excludeSlashTmp: true,
      },
      true,
    ],
    [
      'a kind of place that is new',
      managed('restricted', write('/w'), special('moon')),
      { type: 'workspaceWrite', networkAccess: false },
      false,
    ],
    ['a profile of a new type', { type: 'remote' }, { type: 'unknown:remote' }, true],
  ])('with %s', (_, profile, sandbox, whole) => {
    expect(sandboxOfPermissions(profile, '/w')).toEqual({ sandbox, whole })
  })
})

describe('the records of a rollout', () => {
  let dir: TempDir
  let path: string
  beforeEach(() => {
    dir = tempDir('rollout')
    path = join(dir.path, 'rollout.jsonl')
  })
  afterEach(() => dir.remove())

  const line = (type: string, payload: object, timestamp: string): string =>
    `${JSON.stringify({ timestamp, type, payload })}\n`
  const common = { cwd: '/w', approval_policy: 'never', approvals_reviewer: 'user', model: 'm' }
  const turn = (type: string, timestamp: string) =>
    line('turn_context', { ...common, sandbox_policy: { type } }, timestamp)
  const settings = (timestamp: string) =>
    line(
      'event_msg',
      {
        type: 'thread_settings_applied',
        thread_settings: { ...common, permission_profile: { type: 'disabled' } },
      },
      timestamp,
    )
  const filler = (bytes: number) => line('response_item', { text: 'x'.repeat(bytes) }, '2026-01-01T00:00:00Z')

  it('are its last turn_context and the settings applied after it, oldest first', async () => {
    await writeFile(
      path,
      turn('danger-full-access', '2026-01-01T00:00:01Z') +
        settings('2026-01-01T00:00:02Z') +
        turn('read-only', '2026-01-01T00:00:03Z') +
        filler(10) +
        settings('2026-01-01T00:00:04Z') +
        filler(10),
    )
    const records = await rolloutRecords(path)
    expect(records.map(({ source, sandbox, at }) => [source, sandbox.type, at])).toEqual([
      ['turn_context', 'readOnly', Date.parse('2026-01-01T00:00:03Z')],
      ['settings', 'dangerFullAccess', Date.parse('2026-01-01T00:00:04Z')],
    ])
  })

  it('are found behind lines that are longer than a read, and across its edges', async () => {
    for (const bytes of [65_000, 65_500, 65_536, 131_072, 3_000_000]) {
      await writeFile(path, turn('read-only', '2026-01-01T00:00:01Z') + filler(bytes))
      expect(await rolloutRecords(path), `${bytes} bytes`).toHaveLength(1)
    }
  })

  it('are not looked for beyond 8 MiB', async () => {
    await writeFile(path, turn('read-only', '2026-01-01T00:00:01Z'))
    for (let megabytes = 0; megabytes < 9; megabytes += 1) await appendFile(path, filler(1_048_576))
    expect(await rolloutRecords(path)).toEqual([])
  })

  it('are not taken from a line that is still being written, nor from a text that only looks like one', async () => {
    const quoted = line(
      'response_item',
      { text: turn('danger-full-access', '2026-01-01T00:00:09Z') },
      '2026-01-01T00:00:09Z',
    )
    await writeFile(
      path,
      turn('read-only', '2026-01-01T00:00:01Z') +
        quoted +
        turn('danger-full-access', '2026-01-01T00:00:10Z').trimEnd(),
    )
    expect((await rolloutRecords(path)).map(({ sandbox }) => sandbox.type)).toEqual(['readOnly'])
  })

  it('are none when there is no file, no path, or a directory in its place', async () => {
    expect(await rolloutRecords(undefined)).toEqual([])
    expect(await rolloutRecords(null)).toEqual([])
    expect(await rolloutRecords(path)).toEqual([])
    await mkdir(path)
    expect(await rolloutRecords(path)).toEqual([])
  })
})
