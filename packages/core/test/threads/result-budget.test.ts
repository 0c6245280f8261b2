import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fewerRows, fitTexts, jsonBytes, pageThatFits } from '../../src/threads/result-budget.ts'

describe('fitTexts', () => {
  it('keeps an answer within the budget by halving its texts, never below 100 characters', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ preview: fc.string({ unit: 'binary', maxLength: 5_000 }) }), { maxLength: 20 }),
        fc.integer({ min: 8_000, max: 70_000 }),
        (rows, bytes) => {
          const fitted = fitTexts({ data: rows }, 4_000, bytes)
          if (fitted === undefined) return
          expect(jsonBytes(fitted.value) + 600).toBeLessThanOrEqual(bytes)
          expect([4_000, 2_000, 1_000, 500, 250, 125, 100]).toContain(fitted.maxChars)
        },
      ),
    )
  })

  it('shortens no more than it must', () => {
    const rows = Array.from({ length: 20 }, () => ({ preview: 'x'.repeat(4_000) }))
    expect(fitTexts(rows, 4_000, 100_000)).toMatchObject({ count: 0, maxChars: 4_000 })
    expect(fitTexts(rows, 4_000, 65_536)).toMatchObject({ count: 20, maxChars: 2_000 })
  })

  it('counts bytes, not characters', () => {
    expect(fitTexts({ preview: '漢'.repeat(3_000) }, 4_000, 8_000)).toMatchObject({
      count: 1,
      maxChars: 2_000,
    })
  })

  it('gives up when ids alone are too much', () => {
    expect(fitTexts({ ids: ['x'.repeat(3_000)] }, 4_000, 2_000)).toBeUndefined()
  })
})

describe('pageThatFits', () => {
  it('asks for half the rows until they fit, and hands out that page', async () => {
    const asked: number[] = []
    const answer = await pageThatFits(
      100,
      async (limit) => {
        asked.push(limit)
        return { rows: limit }
      },
      (page, limit) => (page.rows <= 20 ? { page, limit } : undefined),
    )
    expect(asked).toEqual([100, 50, 25, 12])
    expect(answer).toEqual({ page: { rows: 12 }, limit: 12 })
  })

  it('says when one row alone is too large', async () => {
    const answer = pageThatFits(
      2,
      async () => 'row',
      () => undefined,
    )
    await expect(answer).rejects.toMatchObject({ code: 'result_too_large' })
  })
})

describe('fewerRows', () => {
  it('is there only when the page was cut', () => {
    expect(fewerRows(20, 20)).toBeUndefined()
    expect(fewerRows(12, 100)).toBe(
      'At most 12 rows instead of 100, so that they fit: go on with nextCursor.',
    )
  })
})
