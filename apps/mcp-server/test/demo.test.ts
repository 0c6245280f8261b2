import { readdirSync } from 'node:fs'
import { tempDir } from '@codex-thread-bridge/test-fixtures'
import { afterAll, expect, test } from 'vitest'
import { narrator } from '../src/commands/demo/narrator.ts'
import { runBridge } from './run-bridge.ts'

const temp = tempDir('dm')
afterAll(() => temp.remove())

test('the demo plays to its end and leaves nothing behind', async () => {
  const { code, stdout, stderr } = await runBridge(['demo'], { env: { TMPDIR: temp.path } })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.split('\n').filter((line) => /^\d+\./.test(line))).toHaveLength(8)
  expect(stdout).toContain('Everything held')
  expect(readdirSync(temp.path)).toEqual([])
})

test('an expectation that does not hold is named, with what was there instead', () => {
  const told: string[] = []
  const { scene, tell, expect: demand } = narrator((line) => void told.push(line))
  scene('Begin')
  tell('Look.')
  demand('it is so', true)
  expect(told).toEqual(['\n1. Begin', '   Look.', '   ok: it is so'])
  expect(() => demand('it is otherwise', false, { is: 'so' })).toThrow('it is otherwise (found {"is":"so"})')
  expect(() => demand('it is plain', false)).toThrow('it is plain')
})
