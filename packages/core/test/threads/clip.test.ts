import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clipText, clipTexts, truncationOf } from '../../src/threads/clip.ts'

const texts = fc.string({ unit: 'binary', maxLength: 300 })
const length = (text: string) => [...text].length

describe('clipText', () => {
  it('keeps a text that is short enough as it is', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(clipText(text, Math.max(1, length(text)))).toBe(text)
      }),
    )
  })

  it('keeps the first code points of a longer one and tells its length', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 100 }), (text, max) => {
        fc.pre(length(text) > max)
        const kept = [...text].slice(0, max).join('')
        expect(clipText(text, max)).toBe(`${kept}\n[shortened: the original has ${length(text)} characters]`)
      }),
    )
  })

  it('cuts no surrogate pair in two', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 50, maxLength: 200 }), (text) => {
        expect(clipText(text, 20)).not.toMatch(/\p{Surrogate}/u)
      }),
    )
    expect(clipText('😀'.repeat(5), 2)).toBe('😀😀\n[shortened: the original has 5 characters]')
  })

  it('counts a long text in thousands', () => {
    expect(clipText('x'.repeat(5_000_000), 3)).toBe('xxx\n[shortened: the original has 5,000,000 characters]')
  })
})

describe('clipTexts', () => {
  const long = 'x'.repeat(200)
  const short = `${'x'.repeat(100)}\n[shortened: the original has 200 characters]`

  it('shortens display texts wherever they are and counts them', () => {
    const item = {
      type: 'someNewItem',
      text: long,
      summary: [long, 'short', long],
      changes: [{ path: '/a', diff: long }],
      result: { content: [{ type: 'image', data: long, mimeType: 'image/png' }] },
      arguments: { anything: { deep: long } },
    }
    expect(clipTexts(item, 100)).toEqual({
      count: 6,
      value: {
        type: 'someNewItem',
        text: short,
        summary: [short, 'short', short],
        changes: [{ path: '/a', diff: short }],
        result: { content: [{ type: 'image', data: short, mimeType: 'image/png' }] },
        arguments: { anything: { deep: short } },
      },
    })
  })

  it('never touches ids, cursors, paths and status', () => {
    const value = {
      id: long,
      clientId: long,
      receiverThreadIds: [long],
      nextCursor: long,
      cursor: long,
      cwd: long,
      path: long,
      savedPath: long,
      writableRoots: [long],
      status: long,
      type: long,
    }
    expect(clipTexts(value, 100)).toEqual({ count: 0, value })
  })

  it('leaves the original alone', () => {
    const original = Object.freeze({ text: long, list: Object.freeze([long]) })
    expect(clipTexts(original, 100).value).toEqual({ text: short, list: [short] })
    expect(original).toEqual({ text: long, list: [long] })
  })

  it('keeps keys, numbers and the order of anything that is JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const value: unknown = JSON.parse(JSON.stringify(json))
        expect(clipTexts(value, 1_000)).toEqual({ count: 0, value })
      }),
    )
  })
})

describe('truncationOf', () => {
  it('says nothing of an answer that is whole', () => {
    expect(truncationOf({ count: 0, maxChars: 4_000 }, undefined)).toEqual({})
  })

  it('says what was shortened and what else is missing', () => {
    expect(truncationOf({ count: 2, maxChars: 4_000 }, undefined, 'More.')).toEqual({
      truncated: true,
      truncatedCount: 2,
      note: '2 text(s) are shortened to 4,000 characters. More.',
    })
    expect(truncationOf({ count: 0, maxChars: 100 }, 'More.')).toEqual({
      truncated: true,
      truncatedCount: 0,
      note: 'More.',
    })
  })
})
