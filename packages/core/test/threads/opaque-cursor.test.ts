import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { cutText } from '../../src/threads/clip.ts'
import { opaqueCursor } from '../../src/threads/opaque-cursor.ts'

const cursors = opaqueCursor('x', Type.Object({ at: Type.Integer() }))

describe('a cursor of our own', () => {
  it('begins with its letter, is no JSON, and comes back as its place', () => {
    const cursor = cursors.of({ at: 7 })
    expect(cursor).toMatch(/^x[\w-]+$/)
    expect(() => JSON.parse(cursor) as unknown).toThrow()
    expect(cursors.placeOf(cursor)).toEqual({ at: 7 })
  })

  it.each(['', 'x', 'x!', '{"at":7}', `y${cursors.of({ at: 7 }).slice(1)}`, `${cursors.of({ at: 7 })}A`])(
    'does not take %j for one',
    (cursor) => {
      expect(cursors.placeOf(cursor)).toBeUndefined()
    },
  )
})

describe('a cut text', () => {
  it.each([
    ['', 5, { text: '', truncated: false, originalChars: 0 }],
    ['abc', 3, { text: 'abc', truncated: false, originalChars: 3 }],
    ['abcd', 3, { text: 'abc', truncated: true, originalChars: 4 }],
    ['😀😀', 1, { text: '😀', truncated: true, originalChars: 2 }],
    ['😀😀', 0, { text: '', truncated: true, originalChars: 2 }],
  ])('%j to %i characters', (text, max, cut) => {
    expect(cutText(text, max)).toEqual(cut)
  })
})
