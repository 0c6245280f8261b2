import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { optionRows, variableOf } from '../src/options.ts'
import { version } from '../src/version.ts'
import { mainPath, runBridge } from './run-bridge.ts'

test('--version prints the version alone', async () => {
  expect(await runBridge(['--version'])).toEqual({ code: 0, stdout: version, stderr: '' })
})

test('--help names every option with its variable, and every command', async () => {
  const { code, stdout, stderr } = await runBridge(['--help'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const words = stdout.split(/[\s[\]]+/)
  for (const row of Object.values(optionRows))
    expect(words).toEqual(expect.arrayContaining([row.flag, variableOf(row)]))
  for (const command of ['doctor', 'manifest', 'operations', 'demo']) expect(words).toContain(command)
})

test('--help of a command shows the options of all commands too', async () => {
  const { code, stdout } = await runBridge(['operations', 'list', '--help'])
  expect(code).toBe(0)
  expect(stdout).toContain('--cursor')
  expect(stdout).toContain('--state-dir')
})

test('the compiled command begins with a shebang', () => {
  expect(readFileSync(mainPath, 'utf8').startsWith('#!/usr/bin/env node\n')).toBe(true)
})

describe('is not understood: one line on stderr, nothing on stdout, exit 2', () => {
  test.each([
    ['an unknown option', ['--loud'], "error: unknown option '--loud'"],
    [
      'an option of a later version',
      ['--automations-access', 'read-only'],
      "error: unknown option '--automations-access'",
    ],
    [
      'another option of a later version',
      ['--automations-dir', '/'],
      "error: unknown option '--automations-dir'",
    ],
    [
      'an allowed root that is not there',
      ['doctor', '--allow-root', '/', '--allow-root', '/no/such/directory'],
      'codex-thread-bridge: --allow-root must be an existing directory (received "/no/such/directory"); see --help',
    ],
    ['an option without its value', ['--socket'], "error: option '--socket <PATH>' argument missing"],
    [
      'a bad value',
      ['--max-call-seconds', 'a\nb'],
      'codex-thread-bridge: --max-call-seconds must be a whole number from 5 to 280 (received "a\\nb"); see --help',
    ],
    ['an unknown command', ['serv'], "codex-thread-bridge: unknown command 'serv'; see --help"],
    [
      'an unknown command that controls the terminal',
      ['\u001b[31mserv\u202e'],
      "codex-thread-bridge: unknown command '\\u{1b}[31mserv\\u{202e}'; see --help",
    ],
    [
      'an unknown command of a family that does',
      ['jobs', '\u009b1m'],
      "codex-thread-bridge: unknown command 'jobs \\u{9b}1m'; see --help",
    ],
    ['an unknown option that does', ['--\u001b[31mloud'], "error: unknown option '--\\u{1b}[31mloud'"],
    [
      'a family of commands alone',
      ['operations'],
      'codex-thread-bridge: operations needs one of: list, show ID, reconcile ID|--all, backup FILE, export; see --help',
    ],
    [
      'an unknown command of a family',
      ['operations', 'forget'],
      "codex-thread-bridge: unknown command 'operations forget'; see --help",
    ],
    ['a command without its argument', ['operations', 'show'], "error: missing required argument 'ID'"],
    ['another one', ['operations', 'backup'], "error: missing required argument 'FILE'"],
    [
      'a word too many',
      ['doctor', 'now'],
      "error: too many arguments for 'doctor'. Expected 0 arguments but got 1.",
    ],
  ])('%s', async (_, args, stderr) => {
    expect(await runBridge(args)).toEqual({ code: 2, stdout: '', stderr })
  })

  test('a bad variable, which is named', async () => {
    expect(await runBridge([], { env: { CODEX_THREAD_BRIDGE_LOG_LEVEL: 'loud' } })).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'codex-thread-bridge: CODEX_THREAD_BRIDGE_LOG_LEVEL must be one of error, warn, info, debug (received "loud"); see --help',
    })
  })

  test('an unknown variable, which is named', async () => {
    expect(
      await runBridge(['doctor'], { env: { CODEX_THREAD_BRIDGE_AUTOMATIONS_ACCESS: 'read-only' } }),
    ).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'codex-thread-bridge: CODEX_THREAD_BRIDGE_AUTOMATIONS_ACCESS is no variable of this version; see --help',
    })
  })
})
