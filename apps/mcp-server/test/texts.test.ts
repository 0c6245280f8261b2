import { readFileSync } from 'node:fs'
import { compatVersions } from '@codex-thread-bridge/test-fixtures'
import { expect, test } from 'vitest'
import { quoted } from '../src/commands/doctor/check.ts'
import { instructions } from '../src/instructions.ts'
import { jsonLog } from '../src/log.ts'
import { table } from '../src/table.ts'
import { testedVersions } from '../src/tested-versions.ts'
import { version } from '../src/version.ts'

test('the server instructions fit into what hosts keep, and say what an agent must know', () => {
  expect([...instructions].length).toBeLessThanOrEqual(2_000)
  for (const word of ['request_id', 'reconcile', 'get_operation', 'accepted', 'untrusted'])
    expect(instructions).toContain(word)
})

test('the version is that of package.json', () => {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  expect(JSON.parse(text)).toMatchObject({ version })
})

test('the tested versions are the ones that the tests run with', () => {
  expect(testedVersions).toEqual(compatVersions)
})

test('a log line is JSON with time, level and event; less severe ones are left out', () => {
  const lines: string[] = []
  const log = jsonLog('warn', (line) => void lines.push(line))
  log('info', 'quiet')
  log('warn', 'loud', { count: 2, text: 'a\nb' })
  log('error', 'louder')
  expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true)
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
      level: 'warn',
      event: 'loud',
      count: 2,
      text: 'a\nb',
    },
    { time: expect.any(String) as unknown, level: 'error', event: 'louder' },
  ])
})

test('a table has aligned columns and no space at the end of a line', () => {
  expect(
    table([
      ['A', 'LONG', 'C'],
      ['aaa', 'b', ''],
    ]),
  ).toBe('A    LONG  C\naaa  b')
})

test.each([
  ['/plain/path-1.sock', '/plain/path-1.sock'],
  ['/with space', "'/with space'"],
  ["/it's", "'/it'\\''s'"],
])('%s goes into a shell as %s', (path, text) => {
  expect(quoted(path)).toBe(text)
})
