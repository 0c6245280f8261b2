import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import { canonicalJson, deliveryMarker, fingerprint } from '../../src/ledger/index.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const Golden = Type.Array(
  Type.Object({
    note: Type.String(),
    operation: Type.String(),
    params: Type.Unknown(),
    fingerprint: Type.String(),
  }),
)
const golden = Value.Parse(
  Golden,
  JSON.parse(readFileSync(new URL('python/fingerprints.json', import.meta.url), 'utf8')),
)

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    // -0 is 0 in JSON.
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n || 0),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value')),
    fc.dictionary(fc.string({ unit: 'binary' }), tie('value'), { noNullPrototype: true }),
  ),
})).value

const isObject = (value: Json): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The same value with its members in another order. */
const reordered = (value: Json): Json =>
  Array.isArray(value)
    ? value.map(reordered)
    : isObject(value)
      ? Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([key, member]) => [key, reordered(member)]),
        )
      : value

const withoutNulls = (value: Json): Json =>
  Array.isArray(value)
    ? value.map(withoutNulls)
    : isObject(value)
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([, member]) => member !== null)
            .map(([key, member]) => [key, withoutNulls(member)]),
        )
      : value

describe('canonicalJson', () => {
  test('is the JSON of the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value, { nulls: 'keep' }))).toEqual(value)
        expect(JSON.parse(canonicalJson(value))).toEqual(withoutNulls(value))
      }),
    )
  })

  test('does not depend on the order of members', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reordered(value))).toBe(canonicalJson(value))
      }),
    )
  })

  test('holds printable ASCII only, and no space outside of strings', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value)
        expect(text).toMatch(/^[\x20-\x7f]*$/)
        expect(text.replace(/"([^"\\]|\\.)*"/g, '')).not.toMatch(/\s/)
      }),
    )
  })

  test('spells different values differently', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const same = canonicalJson(a, { nulls: 'keep' }) === canonicalJson(b, { nulls: 'keep' })
        expect(same).toBe(Value.Equal(a, b))
      }),
    )
  })

  test('leaves out members that are null or undefined, at every depth, but not items of lists', () => {
    const value = { b: null, a: { y: undefined, x: [null, undefined, { z: null }] } }
    expect(canonicalJson(value)).toBe('{"a":{"x":[null,null,{}]}}')
    expect(canonicalJson(value, { nulls: 'keep' })).toBe('{"a":{"x":[null,null,{"z":null}]},"b":null}')
  })

  test('sorts keys by code point, not by UTF-16 unit', () => {
    expect(canonicalJson({ '\u{1f600}': 1, '\uff5e': 2, b: 3, B: 4, '': 5 })).toBe(
      '{"":5,"B":4,"b":3,"\\uff5e":2,"\\ud83d\\ude00":1}',
    )
  })

  test('escapes as Python does', () => {
    expect(canonicalJson('"\\/\b\f\n\r\t\u0001\u007f\u0080ß\u2028😀')).toBe(
      '"\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f\\u0080\\u00df\\u2028\\ud83d\\ude00"',
    )
  })

  test.each([
    [0, '0'],
    [-0, '0'],
    [-7, '-7'],
    [9_007_199_254_740_991, '9007199254740991'],
    [1e21, '1000000000000000000000'],
    [0.1, '0.1'],
    [1_790_000_000.25, '1790000000.25'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-1.5e-7, '-1.5e-07'],
    [5e-324, '5e-324'],
  ])('prints the number %s as Python does', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  test('refuses what JSON cannot hold', () => {
    expect(() => canonicalJson({ when: () => 1 })).toThrow(TypeError)
    expect(() => canonicalJson(1n)).toThrow(TypeError)
  })

  test.each(golden)('makes the fingerprint that the Python bridge stored ($note)', (one) => {
    expect(sha256(canonicalJson([one.operation, one.params], { nulls: 'keep' }))).toBe(one.fingerprint)
  })
})

describe('fingerprint', () => {
  test('is the SHA-256 of family, operation and arguments', () => {
    expect(fingerprint('bridge', 'create_thread', { prompt: 'grün', cwd: '/srv' })).toBe(
      sha256('["bridge","create_thread",{"cwd":"/srv","prompt":"gr\\u00fcn"}]'),
    )
  })

  test('does not see the request id, nor members that are null or left out', () => {
    const args = { cwd: '/srv', config: { a: 1 } }
    const same = { request_id: 'r', cwd: '/srv', config: { a: 1, b: null }, title: null, model: undefined }
    expect(fingerprint('bridge', 'create_thread', same)).toBe(fingerprint('bridge', 'create_thread', args))
  })

  test('sees a request_id inside of an argument', () => {
    expect(fingerprint('bridge', 'x', { a: { request_id: '1' } })).not.toBe(
      fingerprint('bridge', 'x', { a: { request_id: '2' } }),
    )
  })

  test('differs by family, operation and every argument', () => {
    const all = [
      fingerprint('bridge', 'create_thread', { cwd: '/srv' }),
      fingerprint('jobs', 'create_thread', { cwd: '/srv' }),
      fingerprint('bridge', 'create_worktree_thread', { cwd: '/srv' }),
      fingerprint('bridge', 'create_thread', { cwd: '/srv/' }),
      fingerprint('bridge', 'create_thread', { cwd: '/srv', title: '' }),
      fingerprint('bridge', 'create_thread', {}),
    ]
    expect(new Set(all).size).toBe(all.length)
  })
})

describe('deliveryMarker', () => {
  test('is ctb1: and 24 hex digits of the SHA-256 of endpoint, NUL and request id', () => {
    expect(deliveryMarker('/run/a.sock', 'r-1')).toBe(`ctb1:${sha256('/run/a.sock\0r-1').slice(0, 24)}`)
  })

  test('cannot be moved over the border between endpoint and request id', () => {
    expect(deliveryMarker('/run/a', 'b')).not.toBe(deliveryMarker('/run/', 'ab'))
  })
})
