import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { tempDir, type TempDir } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { optionRows, readOptions, UsageError, variableOf } from '../src/options.ts'

const defaults = {
  socket: undefined,
  stateDir: undefined,
  plugins: ['threads', 'worktrees', 'reads', 'goals', 'operations'],
  maxCallSeconds: 50,
  maxResultBytes: 65_536,
  gitTimeoutSeconds: 30,
  deliveryMarkers: true,
  ceiling: { maxSandbox: 'danger-full-access', allowRoots: [], network: true, escalation: false },
  appThreads: {
    projects: [],
    documentsRoot: undefined,
    defaultPermissions: ':read-only',
    provenance: false,
  },
  jobs: {
    agent: undefined,
    access: 'workspace-write',
    addedVariables: [],
    maxRunning: 16,
    maxOutputBytes: 1_073_741_824,
  },
  logLevel: 'warn',
}
const none = new Map<string, readonly string[]>()
const given = (flag: string, ...texts: readonly string[]) => new Map([[flag, texts]])

test('has the defaults of the contract', () => {
  expect(readOptions(none, {})).toEqual(defaults)
})

/** flag, a text, what it makes of the options. */
const good = [
  ['--socket', '/run/app.sock', { socket: '/run/app.sock' }],
  ['--socket', 'app.sock', { socket: resolve('app.sock') }],
  ['--state-dir', '/var/state', { stateDir: '/var/state' }],
  ['--profile', 'bridge', {}],
  ['--profile', 'codex-app', { plugins: ['app-threads', 'operations'] }],
  ['--profile', 'jobs', { plugins: ['jobs', 'operations'] }],
  ['--plugins', 'reads', { plugins: ['reads'] }],
  ['--plugins', 'operations, reads,reads', { plugins: ['operations', 'reads'] }],
  ['--plugins', 'reads,jobs', { plugins: ['reads', 'jobs'] }],
  ['--jobs-agent', 'codex', { jobs: { ...defaults.jobs, agent: 'codex' } }],
  ['--jobs-access', 'read-only', { jobs: { ...defaults.jobs, access: 'read-only' } }],
  ['--jobs-env', 'API_KEY', { jobs: { ...defaults.jobs, addedVariables: ['API_KEY'] } }],
  ['--jobs-max-running', '2', { jobs: { ...defaults.jobs, maxRunning: 2 } }],
  ['--jobs-max-output', '4096', { jobs: { ...defaults.jobs, maxOutputBytes: 4_096 } }],
  ['--max-call-seconds', '5', { maxCallSeconds: 5 }],
  ['--max-call-seconds', '280', { maxCallSeconds: 280 }],
  ['--max-result-bytes', '4096', { maxResultBytes: 4_096 }],
  ['--max-result-bytes', '1048576', { maxResultBytes: 1_048_576 }],
  ['--log-level', 'debug', { logLevel: 'debug' }],
  ['--log-level', 'error', { logLevel: 'error' }],
] as const

describe.each(good)('%s %s', (flag, text, changed) => {
  test('is taken from the flag', () => {
    expect(readOptions(given(flag, text), {})).toEqual({ ...defaults, ...changed })
  })
  test('is taken from the variable', () => {
    expect(readOptions(none, { [variableOf({ flag })]: text })).toEqual({ ...defaults, ...changed })
  })
})

const everyPlugin = 'must be one of threads, worktrees, reads, goals, operations, app-threads, jobs'

/** flag, a bad text, what is said of it. */
const bad = [
  ['--profile', 'desktop', 'must be one of bridge, codex-app, jobs'],
  ['--plugins', 'reads,desktop', everyPlugin],
  ['--plugins', ',', everyPlugin],
  ['--jobs-agent', 'cursor', 'must be one of claude, codex, opencode, forge, antigravity'],
  ['--jobs-access', 'all', 'must be one of read-only, workspace-write, danger-full-access'],
  ['--jobs-env', 'A=B', 'must be the name of an environment variable'],
  ['--jobs-max-running', '0', 'must be a whole number from 1 to 1000'],
  ['--jobs-max-output', '1', 'must be a whole number from 1024 to 9007199254740991'],
  ['--max-sandbox', 'full', 'must be one of read-only, workspace-write, danger-full-access'],
  ['--allow-root', '/no/such/directory', 'must be an existing directory'],
  ['--max-call-seconds', '4', 'must be a whole number from 5 to 280'],
  ['--max-call-seconds', '281', 'must be a whole number from 5 to 280'],
  ['--max-call-seconds', '5.5', 'must be a whole number from 5 to 280'],
  ['--max-call-seconds', '1e2', 'must be a whole number from 5 to 280'],
  ['--max-call-seconds', 'soon', 'must be a whole number from 5 to 280'],
  ['--max-result-bytes', '4095', 'must be a whole number from 4096 to 1048576'],
  ['--max-result-bytes', '1048577', 'must be a whole number from 4096 to 1048576'],
  ['--log-level', 'loud', 'must be one of error, warn, info, debug'],
] as const

describe.each(bad)('%s %s', (flag, text, reason) => {
  const messageOf = (source: string): string => `${source} ${reason} (received ${JSON.stringify(text)})`
  test('is refused, naming the flag', () => {
    const read = (): unknown => readOptions(given(flag, text), {})
    expect(read).toThrow(new UsageError(messageOf(flag)))
  })
  test('is refused, naming the variable', () => {
    const variable = variableOf({ flag })
    const read = (): unknown => readOptions(none, { [variable]: text })
    expect(read).toThrow(new UsageError(messageOf(variable)))
  })
})

test('an empty path is refused as a flag', () => {
  const read = (): unknown => readOptions(given('--socket', ''), {})
  expect(read).toThrow(new UsageError('--socket must not be empty (received "")'))
})

test('the last of several wins where one is meant', () => {
  expect(readOptions(given('--max-call-seconds', '60', '70'), {}).maxCallSeconds).toBe(70)
})

test('the flag goes before the variable', () => {
  const env = { CODEX_THREAD_BRIDGE_MAX_CALL_SECONDS: '100' }
  expect(readOptions(given('--max-call-seconds', '60'), env).maxCallSeconds).toBe(60)
})

test('an empty variable counts as unset', () => {
  expect(readOptions(none, { CODEX_THREAD_BRIDGE_SOCKET: '' })).toEqual(defaults)
})

describe('delivery markers', () => {
  const variable = 'CODEX_THREAD_BRIDGE_NO_DELIVERY_MARKERS'
  test('are off with the flag', () => {
    expect(readOptions(given('--no-delivery-markers', ''), {}).deliveryMarkers).toBe(false)
  })
  test.each([
    ['1', false],
    ['true', false],
    ['0', true],
    ['false', true],
  ])('%s in the variable', (text, markers) => {
    expect(readOptions(none, { [variable]: text }).deliveryMarkers).toBe(markers)
  })
  test.each(['yes', 'TRUE', 'on'])('%s in the variable is refused', (text) => {
    const message = `${variable} must be one of 1, true, 0, false (received ${JSON.stringify(text)})`
    expect(() => readOptions(none, { [variable]: text })).toThrow(new UsageError(message))
  })
})

test('a variable that no option has is refused, for it may be meant to limit something', () => {
  const read = (): unknown => readOptions(none, { CODEX_THREAD_BRIDGE_AUTOMATIONS_ACCESS: 'read-only' })
  expect(read).toThrow(
    new UsageError('CODEX_THREAD_BRIDGE_AUTOMATIONS_ACCESS is no variable of this version'),
  )
})

describe('the ceiling', () => {
  const ceilingOf = (flags: typeof none, env: Readonly<Record<string, string>> = {}) =>
    readOptions(flags, env).ceiling

  test.each(['read-only', 'workspace-write', 'danger-full-access'])('is %s at most', (name) => {
    expect(ceilingOf(given('--max-sandbox', name)).maxSandbox).toBe(name)
    expect(ceilingOf(none, { CODEX_THREAD_BRIDGE_MAX_SANDBOX: name }).maxSandbox).toBe(name)
  })

  test('has no network and allows escalation when told so', () => {
    expect(ceilingOf(given('--no-network', '')).network).toBe(false)
    expect(ceilingOf(none, { CODEX_THREAD_BRIDGE_NO_NETWORK: '1' }).network).toBe(false)
    expect(ceilingOf(given('--allow-escalation', '')).escalation).toBe(true)
    expect(ceilingOf(none, { CODEX_THREAD_BRIDGE_ALLOW_ESCALATION: '1' }).escalation).toBe(true)
  })

  describe('in directories', () => {
    let folder: TempDir
    let root: string
    beforeAll(() => {
      folder = tempDir('opt')
      root = realpathSync(folder.path)
      mkdirSync(join(root, 'one'))
      mkdirSync(join(root, 'two'))
      symlinkSync('one', join(root, 'link'))
      writeFileSync(join(root, 'file'), '')
    })
    afterAll(() => folder.remove())
    const places = (...names: readonly string[]) => names.map((name) => join(root, name))

    test('is all that were given, by their real paths, each once', () => {
      const flags = given('--allow-root', ...places('one', 'two', 'link', 'one/'))
      expect(ceilingOf(flags).allowRoots).toEqual(places('one', 'two'))
    })

    test('is what a variable lists, separated as in PATH', () => {
      const env = { CODEX_THREAD_BRIDGE_ALLOW_ROOT: places('link', 'two').join(delimiter) }
      expect(ceilingOf(none, env).allowRoots).toEqual(places('one', 'two'))
    })

    test('is what the flags give when there is a variable too', () => {
      const env = { CODEX_THREAD_BRIDGE_ALLOW_ROOT: join(root, 'two') }
      expect(ceilingOf(given('--allow-root', join(root, 'one')), env).allowRoots).toEqual(places('one'))
    })

    test.each(['missing', 'file'])('refuses what is no directory: %s', (name) => {
      const [place = ''] = places(name)
      const message = `--allow-root must be an existing directory (received ${JSON.stringify(place)})`
      expect(() => ceilingOf(given('--allow-root', place))).toThrow(new UsageError(message))
    })
  })
})

test('every option has a variable of its own', () => {
  expect(Object.values(optionRows).map(variableOf)).toEqual([
    'CODEX_THREAD_BRIDGE_SOCKET',
    'CODEX_THREAD_BRIDGE_STATE_DIR',
    'CODEX_THREAD_BRIDGE_PROFILE',
    'CODEX_THREAD_BRIDGE_PLUGINS',
    'CODEX_THREAD_BRIDGE_MAX_SANDBOX',
    'CODEX_THREAD_BRIDGE_ALLOW_ROOT',
    'CODEX_THREAD_BRIDGE_NO_NETWORK',
    'CODEX_THREAD_BRIDGE_ALLOW_ESCALATION',
    'CODEX_THREAD_BRIDGE_MAX_CALL_SECONDS',
    'CODEX_THREAD_BRIDGE_MAX_RESULT_BYTES',
    'CODEX_THREAD_BRIDGE_GIT_TIMEOUT',
    'CODEX_THREAD_BRIDGE_NO_DELIVERY_MARKERS',
    'CODEX_THREAD_BRIDGE_PROJECT',
    'CODEX_THREAD_BRIDGE_DOCUMENTS_ROOT',
    'CODEX_THREAD_BRIDGE_DEFAULT_PERMISSIONS',
    'CODEX_THREAD_BRIDGE_PROVENANCE',
    'CODEX_THREAD_BRIDGE_JOBS_AGENT',
    'CODEX_THREAD_BRIDGE_JOBS_ACCESS',
    'CODEX_THREAD_BRIDGE_JOBS_ENV',
    'CODEX_THREAD_BRIDGE_JOBS_MAX_RUNNING',
    'CODEX_THREAD_BRIDGE_JOBS_MAX_OUTPUT',
    'CODEX_THREAD_BRIDGE_LOG_LEVEL',
  ])
})

test('MCP_CLAUDE_DEBUG turns debug logging on, unless a level is given', () => {
  expect(readOptions(none, { MCP_CLAUDE_DEBUG: 'true' }).logLevel).toBe('debug')
  expect(readOptions(given('--log-level', 'error'), { MCP_CLAUDE_DEBUG: 'true' }).logLevel).toBe('error')
})
