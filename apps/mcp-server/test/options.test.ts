import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { optionRows, readOptions, UsageError, variableOf } from '../src/options.ts'

const defaults = {
  socket: undefined,
  stateDir: undefined,
  plugins: ['threads', 'reads', 'goals', 'operations'],
  maxCallSeconds: 50,
  maxResultBytes: 65_536,
  deliveryMarkers: true,
  logLevel: 'warn',
}
const none = new Map<string, string>()

test('has the defaults of the contract', () => {
  expect(readOptions(none, {})).toEqual(defaults)
})

/** flag, a text, what it makes of the options. */
const good = [
  ['--socket', '/run/app.sock', { socket: '/run/app.sock' }],
  ['--socket', 'app.sock', { socket: resolve('app.sock') }],
  ['--state-dir', '/var/state', { stateDir: '/var/state' }],
  ['--profile', 'bridge', {}],
  ['--plugins', 'reads', { plugins: ['reads'] }],
  ['--plugins', 'operations, reads,reads', { plugins: ['operations', 'reads'] }],
  ['--max-call-seconds', '5', { maxCallSeconds: 5 }],
  ['--max-call-seconds', '280', { maxCallSeconds: 280 }],
  ['--max-result-bytes', '4096', { maxResultBytes: 4_096 }],
  ['--max-result-bytes', '1048576', { maxResultBytes: 1_048_576 }],
  ['--log-level', 'debug', { logLevel: 'debug' }],
  ['--log-level', 'error', { logLevel: 'error' }],
] as const

describe.each(good)('%s %s', (flag, text, changed) => {
  test('is taken from the flag', () => {
    expect(readOptions(new Map([[flag, text]]), {})).toEqual({ ...defaults, ...changed })
  })
  test('is taken from the variable', () => {
    expect(readOptions(none, { [variableOf({ flag })]: text })).toEqual({ ...defaults, ...changed })
  })
})

/** flag, a bad text, what is said of it. */
const bad = [
  ['--profile', 'codex-app', 'must be one of bridge'],
  ['--profile', 'jobs', 'must be one of bridge'],
  ['--plugins', 'reads,jobs', 'must be one of threads, reads, goals, operations'],
  ['--plugins', ',', 'must be one of threads, reads, goals, operations'],
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
    const read = (): unknown => readOptions(new Map([[flag, text]]), {})
    expect(read).toThrow(new UsageError(messageOf(flag)))
  })
  test('is refused, naming the variable', () => {
    const variable = variableOf({ flag })
    const read = (): unknown => readOptions(none, { [variable]: text })
    expect(read).toThrow(new UsageError(messageOf(variable)))
  })
})

test('an empty path is refused as a flag', () => {
  const read = (): unknown => readOptions(new Map([['--socket', '']]), {})
  expect(read).toThrow(new UsageError('--socket must not be empty (received "")'))
})

test('the flag goes before the variable', () => {
  const env = { CODEX_THREAD_BRIDGE_MAX_CALL_SECONDS: '100' }
  expect(readOptions(new Map([['--max-call-seconds', '60']]), env).maxCallSeconds).toBe(60)
})

test('an empty variable counts as unset', () => {
  expect(readOptions(none, { CODEX_THREAD_BRIDGE_SOCKET: '' })).toEqual(defaults)
})

describe('delivery markers', () => {
  const variable = 'CODEX_THREAD_BRIDGE_NO_DELIVERY_MARKERS'
  test('are off with the flag', () => {
    expect(readOptions(new Map([['--no-delivery-markers', 'false']]), {}).deliveryMarkers).toBe(false)
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
  const read = (): unknown => readOptions(none, { CODEX_THREAD_BRIDGE_MAX_SANDBOX: 'read-only' })
  expect(read).toThrow(new UsageError('CODEX_THREAD_BRIDGE_MAX_SANDBOX is no variable of this version'))
})

test('every option has a variable of its own', () => {
  expect(Object.values(optionRows).map(variableOf)).toEqual([
    'CODEX_THREAD_BRIDGE_SOCKET',
    'CODEX_THREAD_BRIDGE_STATE_DIR',
    'CODEX_THREAD_BRIDGE_PROFILE',
    'CODEX_THREAD_BRIDGE_PLUGINS',
    'CODEX_THREAD_BRIDGE_MAX_CALL_SECONDS',
    'CODEX_THREAD_BRIDGE_MAX_RESULT_BYTES',
    'CODEX_THREAD_BRIDGE_NO_DELIVERY_MARKERS',
    'CODEX_THREAD_BRIDGE_LOG_LEVEL',
  ])
})
