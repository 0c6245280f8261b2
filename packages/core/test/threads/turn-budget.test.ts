import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Item, Turn } from '../../src/protocol/items.ts'
import { jsonBytes } from '../../src/threads/result-budget.ts'
import { fitTurns, omittedNote } from '../../src/threads/turn-budget.ts'

const item = (id: string, members: object): Item => ({ type: 'agentMessage', id, ...members })
const turnOf = (id: string, items: readonly Item[]): Turn => ({ id, status: 'completed', items: [...items] })

const items = fc.array(
  fc.record({
    text: fc.oneof(fc.string({ maxLength: 20 }), fc.string({ minLength: 500, maxLength: 3_000 })),
    more: fc.array(fc.string({ unit: 'binary', maxLength: 50 }), { maxLength: 20 }),
  }),
  { maxLength: 30 },
)
/** Newest first; items are numbered through the page, the oldest has 0. */
const pages = fc.array(items, { minLength: 1, maxLength: 12 }).map((turns) => {
  let number = turns.flat().length
  return turns.map((contents, place) => {
    number -= contents.length
    return turnOf(
      `turn-${place}`,
      contents.map((members, offset) => item(`item-${number + offset}`, members)),
    )
  })
})

const omitted = (shown: Item): boolean => 'omitted' in shown
const numbersOf = (turns: readonly Turn[], which: (shown: Item) => boolean): readonly number[] =>
  turns.flatMap((turn) => turn.items.filter(which).map(({ id }) => Number(id.replace('item-', ''))))

describe('fitTurns', () => {
  it('stays within the bytes whatever the items are, and keeps every turn', () => {
    fc.assert(
      fc.property(pages, fc.integer({ min: 2_000, max: 60_000 }), (page, bytes) => {
        const fitted = fitTurns(page, 1_000, bytes)
        expect(jsonBytes(fitted?.turns)).toBeLessThanOrEqual(bytes)
        expect(fitted?.turns.map(({ id, status }) => [id, status])).toEqual(
          page.map(({ id, status }) => [id, status]),
        )
      }),
    )
  })

  it('accounts for every item: shown, a stub with id and type, or counted by its turn', () => {
    fc.assert(
      fc.property(pages, fc.integer({ min: 2_000, max: 20_000 }), (page, bytes) => {
        const fitted = fitTurns(page, 1_000, bytes)
        fitted?.turns.forEach((turn, place) => {
          const originals = page[place]?.items ?? []
          expect((turn.omittedItems ?? 0) + turn.items.length).toBe(originals.length)
          const kept = originals.slice(turn.omittedItems ?? 0)
          expect(turn.items.map(({ id, type }) => ({ id, type }))).toEqual(
            kept.map(({ id, type }) => ({ id, type })),
          )
          for (const stub of turn.items.filter(omitted))
            expect(Object.keys(stub)).toEqual(['id', 'type', 'omitted'])
        })
      }),
    )
  })

  it('leaves out older items before newer ones', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 60 }),
        fc.integer({ min: 8_000, max: 60_000 }),
        (count, bytes) => {
          const all = Array.from({ length: count }, (_, n) => item(`item-${n}`, { text: 'x'.repeat(1_000) }))
          const page = [turnOf('newer', all.slice(count >> 1)), turnOf('older', all.slice(0, count >> 1))]
          const turns = fitTurns(page, 1_000, bytes)?.turns ?? []
          const lost = numbersOf(turns, omitted)
          const shown = numbersOf(turns, (kept) => !omitted(kept))
          expect(Math.max(-1, ...lost)).toBeLessThan(Math.min(count, ...shown))
        },
      ),
    )
  })

  it('shows everything when everything fits', () => {
    fc.assert(
      fc.property(pages, (page) => {
        expect(fitTurns(page, 5_000, 10_000_000)).toEqual({ turns: page, count: 0, omitted: 0 })
      }),
    )
  })

  it('counts the shortened texts that are shown, and no others', () => {
    const text = 'x'.repeat(2_000)
    const page = [
      turnOf('newer', [item('2', { text })]),
      turnOf('older', [item('0', { text }), item('1', { text })]),
    ]
    expect(fitTurns(page, 1_000, 100_000)).toMatchObject({ count: 3, omitted: 0 })
    expect(fitTurns(page, 1_000, 2_600)).toMatchObject({ count: 2, omitted: 1 })
  })

  it('shows no older item in the place of a newer one that is too long', () => {
    const page = [
      turnOf('only', [
        item('old', { text: 'x'.repeat(100) }),
        item('middle', { text: 'y'.repeat(900) }),
        item('new', { text: 'z'.repeat(300) }),
      ]),
    ]
    const [only] = fitTurns(page, 1_000, 1_250)?.turns ?? []
    expect(only?.items.map(omitted)).toEqual([true, true, false])
  })

  it('passes over an item that no answer could hold, and shows the others', () => {
    const huge = item('huge', { numbers: Array.from({ length: 10_000 }, () => 1) })
    const page = [turnOf('only', [item('old', { text: 'before' }), huge, item('new', { text: 'after' })])]
    expect(fitTurns(page, 1_000, 2_000)?.turns).toEqual([
      {
        id: 'only',
        status: 'completed',
        items: [
          { type: 'agentMessage', id: 'old', text: 'before' },
          { id: 'huge', type: 'agentMessage', omitted: true },
          { type: 'agentMessage', id: 'new', text: 'after' },
        ],
      },
    ])
  })

  it('takes the items of whole turns when there are too many of them, the oldest turns first', () => {
    const many = (prefix: string) =>
      Array.from({ length: 200 }, (_, n) => item(`${prefix}-${n}`, { text: 'y'.repeat(500) }))
    const page = ['c', 'b', 'a'].map((id) => turnOf(id, many(id)))
    const turns = fitTurns(page, 1_000, 30_000)?.turns ?? []
    expect(turns.map(({ id, omittedItems, items: { length } }) => [id, omittedItems, length])).toEqual([
      ['c', undefined, 200],
      ['b', 200, 0],
      ['a', 200, 0],
    ])
  })

  it('keeps the newest items of a turn that alone has too many', () => {
    const all = Array.from({ length: 2_000 }, (_, n) => item(`item-${n}`, { text: 'z'.repeat(300) }))
    const [turn] = fitTurns([turnOf('only', all)], 1_000, 20_000)?.turns ?? []
    expect(turn?.items.at(-1)).toEqual(all.at(-1))
    expect(turn?.omittedItems).toBeGreaterThan(1_000)
    expect((turn?.omittedItems ?? 0) + (turn?.items.length ?? 0)).toBe(2_000)
  })

  it('gives up when the turns alone are too much', () => {
    const page = Array.from({ length: 100 }, (_, n) => turnOf(`turn-${n}`, []))
    expect(fitTurns(page, 1_000, 3_000)).toBeUndefined()
  })
})

describe('omittedNote', () => {
  it('is there only when something was left out', () => {
    expect(omittedNote(0)).toBeUndefined()
    expect(omittedNote(1_234)).toMatch(/^1,234 item\(s\) are left out/)
  })
})
