import { defineMutation, definePlugin } from '@codex-thread-bridge/core/contract'
import { createHost } from '@codex-thread-bridge/core/host'
import { receiptOutput } from '@codex-thread-bridge/core/ledger'
import { cannedAppServer, memoryLedger } from '@codex-thread-bridge/core/testing'
import { createOperationsPlugin } from '@codex-thread-bridge/operations'
import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { receipt } from './receipts.ts'

/** A mutation whose reconciliation always finds it delivered. */
const found = defineMutation({
  name: 'find_again',
  title: 'Find again',
  description: 'Is always found again.',
  input: Type.Object({}, { additionalProperties: false }),
  output: receiptOutput({}),
  uses: [],
  examples: [{ input: {}, answers: {} }],
  run: async () => ({}),
  reconcile: async () => ({ verdict: 'delivered', looked: { calls: 1 }, patch: { turnId: 'turn-9' } }),
})

const start = async () => {
  const ledger = memoryLedger()
  const unknown = receipt({
    requestId: 'lost',
    fingerprintVersion: 3,
    operation: 'find_again',
    status: 'outcome_unknown',
    next: 'reconcile',
  })
  for (const row of [receipt(), unknown]) ledger.claim({ fingerprint: 'f', receipt: row })
  const host = createHost({ appServer: cannedAppServer({}), ledger })
  host.register(createOperationsPlugin(host.operations, { version: '1.2.3', testedVersions: [] }))
  host.register(definePlugin({ name: 'example', family: 'bridge', version: '1.0.0', tools: [found] }))
  await host.ready()
  return host
}

it('get_operation returns a receipt as it stands', async () => {
  const host = await start()
  expect(await host.call('get_operation', { request_id: 'request-1' })).toEqual({
    ...receipt(),
    replayed: false,
  })
})

it('get_operation looks for the truth only when it is asked to, and keeps what it found', async () => {
  const host = await start()
  expect(await host.call('get_operation', { request_id: 'lost' })).toMatchObject({
    status: 'outcome_unknown',
  })
  const expected = {
    status: 'accepted',
    next: 'none',
    turnId: 'turn-9',
    reconciliation: { verdict: 'delivered', looked: { calls: 1 } },
  }
  expect(await host.call('get_operation', { request_id: 'lost', reconcile: true })).toMatchObject(expected)
  expect(await host.call('get_operation', { request_id: 'lost' })).toMatchObject(expected)
})

it('get_operation says that an id is unknown', async () => {
  const host = await start()
  const answer = host.call('get_operation', { request_id: 'never', reconcile: true })
  await expect(answer).rejects.toMatchObject({
    code: 'unknown_request',
    field: 'request_id',
    next: 'fix_call',
  })
})
