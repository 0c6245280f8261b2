import fc from 'fast-check'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  openLedger,
  type LedgerPort,
  type Liveness,
  type Owner,
  type Receipt,
  type ReceiptQuery,
} from '../../src/ledger/index.ts'
import { memoryLedger, memoryStore } from '../../src/testing/memory-ledger.ts'
import { codeOf, directory, endpoint, livesInTest, open, owners, receipt, row } from './support.ts'

/** Opens ledgers that share what they store, one for each process. */
type OpenFor = (owner: Owner, isAlive?: Liveness) => Promise<LedgerPort>

const onDisk = (): OpenFor => {
  const path = join(directory(), 'operations.sqlite3')
  return async (owner, isAlive = livesInTest) => {
    const ledger = await openLedger({ path, endpoint, owner, isAlive })
    onTestFinished(() => ledger.close())
    return ledger
  }
}

const inMemory = (): OpenFor => {
  const store = memoryStore()
  return async (owner, isAlive = livesInTest) => memoryLedger({ endpoint, store, owner, isAlive })
}

const sent = { name: 'turn/start', state: 'intended', at: 1 } as const

describe.each([
  ['the ledger on disk', onDisk],
  ['the ledger in memory', inMemory],
])('%s', (_name, storage) => {
  const ledgerOf = (owner: Owner = owners.living) => storage()(owner)

  test('keeps the first claim of a request id and gives it back to every later one', async () => {
    const openFor = storage()
    const one = await openFor(owners.living)
    const two = await openFor(owners.other)
    const first = row('r', { title: 'first' })
    expect(one.claim(first)).toEqual({ won: true, row: first })
    const second = { fingerprint: 'another', receipt: receipt('r', { title: 'second' }) }
    expect(two.claim(second)).toEqual({ won: false, row: first })
    expect(two.get('r')).toEqual(first)
  })

  test('knows nothing of an id that nobody claimed', async () => {
    expect((await ledgerOf()).get('r')).toBeUndefined()
  })

  test('replaces the receipt at a save and leaves the fingerprint', async () => {
    const ledger = await ledgerOf()
    ledger.claim(row('r'))
    const saved = receipt('r', { status: 'failed', threadId: 't', ownMember: { deep: [1, null] } })
    ledger.save(saved)
    expect(ledger.get('r')).toEqual({ fingerprint: 'fingerprint of r', receipt: saved })
  })

  test('refuses to save a receipt whose row is gone', async () => {
    const ledger = await ledgerOf()
    ledger.claim(row('r'))
    ledger.drop('r')
    expect(await codeOf(() => ledger.save(receipt('r')))).toBe('ledger_unavailable')
    expect(ledger.counts().operations).toBe(0)
  })

  test('lets a dropped id be claimed again', async () => {
    const ledger = await ledgerOf()
    ledger.claim(row('r', { title: 'first' }))
    ledger.drop('r')
    ledger.drop('never there')
    expect(ledger.claim(row('r', { title: 'second' })).won).toBe(true)
    expect(ledger.get('r')?.receipt.title).toBe('second')
  })

  test('does not share a receipt with its caller', async () => {
    const ledger = await ledgerOf()
    const mine = row('r')
    ledger.claim(mine)
    mine.receipt.title = 'changed afterwards'
    expect(ledger.get('r')?.receipt.title).toBeUndefined()
  })

  test('reads an open row of a living owner as running', async () => {
    const ledger = await ledgerOf()
    ledger.claim(row('r', open(owners.other, [sent])))
    const read = ledger.claim(row('r')).row.receipt
    expect([read.status, read.execution, read.next]).toEqual([
      'in_progress_or_unknown',
      'running',
      'reconcile',
    ])
  })

  test('reads open rows of dead owners as what their steps prove, everywhere alike', async () => {
    const ledger = await ledgerOf()
    ledger.claim(row('nothing sent', { ...open(owners.dead), startedAt: 3, threadId: 't' }))
    ledger.claim(row('sent', { ...open(owners.dead, [sent]), startedAt: 2, threadId: 't' }))
    ledger.claim(row('running', { ...open(owners.living, [sent]), startedAt: 1, threadId: 't' }))
    const ids = (query: Partial<ReceiptQuery>) =>
      ledger.list({ limit: 9, ...query }).receipts.map((found) => found.requestId)

    expect(ledger.get('nothing sent')?.receipt.error?.code).toBe('not_sent')
    expect(ledger.claim(row('sent')).row.receipt).toMatchObject({
      status: 'outcome_unknown',
      execution: 'interrupted',
    })
    expect(ids({ status: 'failed' })).toEqual(['nothing sent'])
    expect(ids({ status: 'outcome_unknown' })).toEqual(['sent'])
    expect(ids({ status: 'in_progress_or_unknown', threadId: 't' })).toEqual(['running'])
    expect(ids({ threadId: 't' })).toEqual(['nothing sent', 'sent', 'running'])
    expect(ids({ status: 'accepted' })).toEqual([])
    expect(ledger.counts()).toEqual({ operations: 3, uncertain: 1 })
  })

  test.each<[string, (ledger: LedgerPort) => Receipt | undefined]>([
    ['get', (ledger) => ledger.get('r')?.receipt],
    ['claim', (ledger) => ledger.claim(row('r')).row.receipt],
    ['list', (ledger) => ledger.list({ limit: 1 }).receipts[0]],
    ['list of a status', (ledger) => ledger.list({ limit: 1, status: 'accepted' }).receipts[0]],
  ])('sees what an owner saved between the read and its death (%s)', async (_read, read) => {
    const openFor = storage()
    const dying = await openFor(owners.living)
    dying.claim(row('r', open(owners.living)))
    const reader = await openFor(owners.other, (owner) => {
      if (owner.pid === owners.living.pid) dying.save(receipt('r', { owner, threadId: 'made' }))
      return false
    })
    expect(read(reader)).toMatchObject({ status: 'accepted', threadId: 'made' })
    expect(reader.counts()).toEqual({ operations: 1, uncertain: 0 })
  })

  test('looks for an owner once a read, and for a dead one never again', async () => {
    const look = vi.fn(livesInTest)
    const ledger = await storage()(owners.other, look)
    for (const id of ['a', 'b', 'c']) {
      ledger.claim(row(`${id} living`, open(owners.living)))
      ledger.claim(row(`${id} dead`, open(owners.dead)))
    }
    look.mockClear()
    expect(ledger.list({ limit: 9 }).receipts).toHaveLength(6)
    look.mockClear()
    ledger.list({ limit: 9 })
    ledger.get('a dead')
    expect(look.mock.calls).toEqual([[owners.living]])
  })

  test('counts through claims, saves and drops', async () => {
    const ledger = await ledgerOf()
    const unknown = { status: 'outcome_unknown', next: 'reconcile' } as const
    ledger.claim(row('a', unknown))
    ledger.claim(row('a', unknown))
    ledger.claim(row('b'))
    ledger.claim(row('c', unknown))
    expect(ledger.counts()).toEqual({ operations: 3, uncertain: 2 })
    ledger.save(receipt('a'))
    ledger.save(receipt('b', unknown))
    ledger.save(receipt('b', { ...unknown, title: 'still' }))
    ledger.drop('c')
    expect(ledger.counts()).toEqual({ operations: 2, uncertain: 1 })
  })

  test('lists every receipt once, newest first, whatever the filter, the page size and the owners', async () => {
    const instant = fc.oneof(
      fc.integer({ min: 1_790_000_000_000, max: 1_790_000_000_003 }).map((ms) => ms / 1000),
      fc.double({ min: 0, max: 2e9, noNaN: true }),
    )
    const steps = fc.constantFrom<Receipt['steps']>([], [sent], [{ ...sent, name: 'thread/resume' }])
    const status = fc.constantFrom(
      'in_progress_or_unknown' as const,
      'in_progress_or_unknown' as const,
      'accepted' as const,
      'failed' as const,
      'outcome_unknown' as const,
    )
    const stored = fc.record(
      {
        startedAt: instant,
        status,
        threadId: fc.constantFrom('t1', 't2'),
        owner: fc.constantFrom(owners.living, owners.dead),
        steps,
      },
      { requiredKeys: ['startedAt', 'status', 'steps'] },
    )
    const requestId = fc.oneof(
      fc.string({ minLength: 1, maxLength: 3 }),
      fc.constantFrom('\u{1f600}', '\uff5e', 'ä', 'a', 'b'),
    )
    const filter = fc.record({ status, threadId: fc.constantFrom('t1', 't2', 'never') }, { requiredKeys: [] })
    // A file each: more runs would test the disk.
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(requestId, stored), { selector: ([id]) => id, maxLength: 80 }),
        fc.array(fc.tuple(filter, fc.integer({ min: 1, max: 40 })), { minLength: 1, maxLength: 6 }),
        async (rows, queries) => {
          const ledger = await ledgerOf()
          for (const [id, members] of rows) ledger.claim(row(id, members))
          const ids = rows.map(([id]) => id)
          for (const [query, limit] of queries) {
            const found = pagesOf(ledger, { ...query, limit })
            expect(found.map((one) => one.requestId)).toEqual(model(ledger, ids, query))
          }
          const uncertain = model(ledger, ids, { status: 'outcome_unknown' }).length
          expect(ledger.counts()).toEqual({ operations: rows.length, uncertain })
        },
      ),
      { numRuns: 25 },
    )
  })

  test('serves a thread to those in line in the order they came', async () => {
    const openFor = storage()
    const one = await openFor(owners.living)
    const two = await openFor(owners.other)
    expect(one.holder('t')).toBeUndefined()
    one.enqueue('t', 'first')
    two.enqueue('t', 'second')
    one.enqueue('t', 'third')
    one.enqueue('t', 'first')
    two.enqueue('elsewhere', 'second')
    expect([one.holder('t'), two.holder('t'), two.holder('elsewhere')]).toEqual(['first', 'first', 'second'])
    two.dequeue('t', 'second')
    one.dequeue('t', 'first')
    expect(two.holder('t')).toBe('third')
    one.dequeue('t', 'third')
    one.dequeue('t', 'third')
    expect(one.holder('t')).toBeUndefined()
    expect(one.holder('elsewhere')).toBe('second')
  })

  test('passes over those in line whose owner died', async () => {
    const openFor = storage()
    const gone = await openFor(owners.dead)
    const here = await openFor(owners.living)
    gone.enqueue('t', 'left')
    gone.enqueue('t', 'left too')
    here.enqueue('t', 'mine')
    expect(here.holder('t')).toBe('mine')
    here.dequeue('t', 'mine')
    expect(here.holder('t')).toBeUndefined()
  })

  test('puts a request that a dead process had in line at the end', async () => {
    const openFor = storage()
    const gone = await openFor(owners.dead)
    const here = await openFor(owners.living)
    gone.enqueue('t', 'again')
    here.enqueue('t', 'between')
    here.enqueue('t', 'again')
    expect(here.holder('t')).toBe('between')
    here.dequeue('t', 'between')
    expect(here.holder('t')).toBe('again')
  })

  test('names its endpoint', async () => {
    expect((await ledgerOf()).endpoint).toBe(endpoint)
  })
})

/** All pages of a query, each full but the last. */
const pagesOf = (ledger: LedgerPort, query: ReceiptQuery): Receipt[] => {
  const page = ledger.list(query)
  const last = page.receipts.at(-1)
  if (!page.more || last === undefined) return [...page.receipts]
  expect(page.receipts).toHaveLength(query.limit)
  const { startedAt, requestId } = last
  return [...page.receipts, ...pagesOf(ledger, { ...query, after: { startedAt, requestId } })]
}

/** What a list must hold, from single reads. */
const model = (ledger: LedgerPort, ids: readonly string[], query: Partial<ReceiptQuery>): string[] =>
  ids
    .flatMap((id) => ledger.get(id)?.receipt ?? [])
    .filter(({ status }) => query.status === undefined || status === query.status)
    .filter(({ threadId }) => query.threadId === undefined || threadId === query.threadId)
    .sort(
      (a, b) =>
        b.startedAt - a.startedAt || Buffer.compare(Buffer.from(b.requestId), Buffer.from(a.requestId)),
    )
    .map(({ requestId }) => requestId)
