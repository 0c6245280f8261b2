import { createHost } from '@codex-thread-bridge/core/host'
import type { Receipt } from '@codex-thread-bridge/core/ledger'
import { cannedAppServer, memoryLedger } from '@codex-thread-bridge/core/testing'
import { createOperationsPlugin } from '@codex-thread-bridge/operations'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cursorAfter, placeOf } from '../src/operations-cursor.ts'
import { receipt } from './receipts.ts'

const hostWith = async (receipts: readonly Receipt[], resultBytes = 65_536) => {
  const ledger = memoryLedger()
  for (const row of receipts) ledger.claim({ fingerprint: 'f', receipt: row })
  const host = createHost({ appServer: cannedAppServer({}), ledger, limits: { resultBytes } })
  host.register(createOperationsPlugin(host.operations, { version: '1.2.3', testedVersions: [] }))
  await host.ready()
  return host
}

interface Page {
  readonly data: readonly { readonly requestId: string }[]
  readonly nextCursor: string | null
}
const isPage = (answer: unknown): answer is Page =>
  typeof answer === 'object' && answer !== null && 'data' in answer && 'nextCursor' in answer

/** Every page of a list, by the request ids of its rows. */
const pages = async (receipts: readonly Receipt[], input: object, resultBytes?: number) => {
  const host = await hostWith(receipts, resultBytes)
  const found: string[][] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const answer: unknown = await host.call('list_operations', { ...input, cursor })
    if (!isPage(answer)) throw new Error('no page')
    found.push(answer.data.map(({ requestId }) => requestId))
    cursor = answer.nextCursor
  }
  return found
}

const rows = Array.from({ length: 7 }, (_, n) =>
  receipt({
    requestId: `request-${n}`,
    // Two share a second: the id decides between them.
    startedAt: 1_796_058_800 + Math.floor(n / 2),
    status: n % 3 === 0 ? 'failed' : 'accepted',
    threadId: n < 5 ? 'thread-1' : 'thread-2',
  }),
)

describe('list_operations', () => {
  it('lists the newest first, page by page, each once', async () => {
    const [all] = await pages(rows, { limit: 100 })
    expect(all?.[0]).toBe('request-6')
    expect(new Set(all).size).toBe(7)
    for (const limit of [1, 2, 3, 6]) {
      const found = await pages(rows, { limit })
      expect(found.flat()).toEqual(all)
      expect(found.slice(0, -1).every((page) => page.length === limit)).toBe(true)
    }
  })

  it('filters by status and by thread', async () => {
    expect((await pages(rows, { status: 'failed' })).flat().sort()).toEqual([
      'request-0',
      'request-3',
      'request-6',
    ])
    expect((await pages(rows, { thread_id: 'thread-2' })).flat().sort()).toEqual(['request-5', 'request-6'])
    expect(await pages(rows, { status: 'outcome_unknown' })).toEqual([[]])
  })

  it('shows a receipt in short form', async () => {
    const host = await hostWith([
      receipt({
        status: 'failed',
        execution: 'interrupted',
        threadId: 'thread-1',
        turnId: 'turn-1',
        next: 'inspect',
        steps: [{ name: 'thread/start', state: 'answered', at: 1 }],
        creation: {},
        error: { code: 'environment_mismatch', message: 'It differs.' },
      }),
    ])
    expect(await host.call('list_operations', {})).toEqual({
      data: [
        {
          requestId: 'request-1',
          operation: 'create_thread',
          status: 'failed',
          execution: 'interrupted',
          threadId: 'thread-1',
          turnId: 'turn-1',
          startedAt: 1_796_058_796.25,
          updatedAt: 1_796_058_797.5,
          next: 'inspect',
          error: { code: 'environment_mismatch' },
        },
      ],
      nextCursor: null,
    })
  })

  it('ends a page early rather than be too large', async () => {
    const long = Array.from({ length: 20 }, (_, n) =>
      receipt({ requestId: `${String(n).padStart(2, '0')}-${'漢'.repeat(100)}`, startedAt: n }),
    )
    const found = await pages(long, { limit: 100 }, 3_000)
    expect(found.flat()).toEqual(long.map(({ requestId }) => requestId).reverse())
    expect(found.length).toBeGreaterThan(2)
  })

  it.each(['x', '12', '{}', 'oe30', 'o'])('refuses %j as a cursor', async (cursor) => {
    const host = await hostWith([])
    const answer = host.call('list_operations', { cursor })
    await expect(answer).rejects.toMatchObject({ code: 'invalid_cursor', field: 'cursor', next: 'fix_call' })
  })
})

describe('the cursor', () => {
  it('names a receipt exactly, and begins with a letter', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, noNaN: true, max: 1e12 }),
        fc.string({ unit: 'grapheme' }),
        (startedAt, requestId) => {
          const cursor = cursorAfter({ startedAt, requestId })
          expect(cursor).toMatch(/^[a-z][A-Za-z0-9_-]+$/)
          expect(placeOf(cursor)).toEqual({ startedAt, requestId })
        },
      ),
    )
  })
})
