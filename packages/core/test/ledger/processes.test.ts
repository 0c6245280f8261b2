import { once } from 'node:events'
import { join } from 'node:path'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { expect, test } from 'vitest'
import { processOwner } from '../../src/ledger/index.ts'
import { directory, firstLine, openHere, resultOf, row, startChild } from './support.ts'

const Race = Type.Object({ pid: Type.Integer(), won: Type.Array(Type.String()) })

test('of several processes that open a new file and claim the same ids at once, one wins each', async () => {
  const path = join(directory(), 'operations.sqlite3')
  const count = 40
  const children = [1, 2, 3].map(() => startChild('race.ts', [path, String(count)]))
  await Promise.all(children.map(firstLine))
  for (const child of children) child.stdin?.end('go')
  const races = (await Promise.all(children.map(resultOf))).map((result) => Value.Parse(Race, result))

  const ids = Array.from({ length: count }, (_, i) => `request-${i}`)
  expect(races.flatMap(({ won }) => won).sort()).toEqual([...ids].sort())
  const ledger = await openHere(path)
  for (const { pid, won } of races) {
    for (const id of won) expect(ledger.get(id)?.fingerprint).toBe(String(pid))
  }
  expect(ledger.counts()).toEqual({ operations: count, uncertain: 0 })
})

test.each([
  ['thread/resume', { status: 'failed', next: 'new_request_id', error: { code: 'not_sent' } }],
  ['turn/start', { status: 'outcome_unknown', next: 'reconcile', execution: 'interrupted' }],
])('after kill -9 at an intended %s the row reads as proved and its thread is free', async (step, read) => {
  const path = join(directory(), 'operations.sqlite3')
  const ledger = await openHere(path)
  const child = startChild('hold-row.ts', [path, 'r', step])
  expect(await firstLine(child)).toBe('held')
  ledger.enqueue('thread', 'mine')
  expect(ledger.claim(row('r'))).toMatchObject({
    won: false,
    row: { receipt: { status: 'in_progress_or_unknown', execution: 'running', owner: { pid: child.pid } } },
  })
  expect(ledger.holder('thread')).toBe('r')

  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
  expect(ledger.claim(row('r'))).toMatchObject({ won: false, row: { fingerprint: 'f', receipt: read } })
  expect(ledger.list({ limit: 1 }).receipts).toMatchObject([read])
  expect(ledger.counts().uncertain).toBe(step === 'turn/start' ? 1 : 0)
  expect(ledger.holder('thread')).toBe('mine')
})

test('what this process claims is its own and running', async () => {
  const ledger = await openHere(join(directory(), 'operations.sqlite3'))
  ledger.claim(row('r', { status: 'in_progress_or_unknown', owner: processOwner() }))
  expect(ledger.get('r')?.receipt.execution).toBe('running')
})
