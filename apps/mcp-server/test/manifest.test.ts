import { at } from '@codex-thread-bridge/test-fixtures'
import { expect, test } from 'vitest'
import { runBridge } from './run-bridge.ts'

const unreachable = ['--socket', '/nowhere/app.sock', '--state-dir', '/nowhere/state']

test('manifest --json is the manifest of the host, without any App Server or ledger', async () => {
  const { code, stdout, stderr } = await runBridge([...unreachable, 'manifest', '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const plugins = at(JSON.parse(stdout), 'plugins')
  expect(Array.isArray(plugins) && plugins.map((plugin) => at(plugin, 'name'))).toEqual([
    'goals',
    'operations',
    'reads',
    'threads',
    'worktrees',
  ])
  expect(at(plugins, '3.tools.0')).toMatchObject({
    name: 'create_thread',
    kind: 'mutation',
    annotations: { destructiveHint: true, idempotentHint: true },
    input: { type: 'object', additionalProperties: false },
    output: { type: 'object' },
  })
})

test('manifest is a table of the tools, of the chosen plugins only', async () => {
  const { code, stdout } = await runBridge(['manifest', '--plugins', 'goals'])
  expect(code).toBe(0)
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['TOOL', 'KIND', 'PLUGIN', 'TITLE'],
    ['get_goal', 'read', 'goals', expect.any(String)],
  ])
})
