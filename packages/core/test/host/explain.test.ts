import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { inputParser } from '../../src/host/parse.ts'

const parse = inputParser(
  Type.Object(
    {
      request_id: Type.String({ minLength: 1, maxLength: 5, pattern: '\\S' }),
      sandbox: Type.Optional(Type.Enum(['read-only', 'workspace-write'], { type: 'string' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      cursor: Type.Optional(Type.String()),
      policy: Type.Optional(
        Type.Object(
          { type: Type.String(), network: Type.Optional(Type.Boolean()) },
          { additionalProperties: false },
        ),
      ),
      roots: Type.Optional(Type.Array(Type.String())),
    },
    { additionalProperties: false },
  ),
)

describe('a wrong argument', () => {
  it.each([
    [{}, 'request_id', '`request_id` is required.'],
    [
      { request_id: 'a', message: 'x' },
      'message',
      '`message` is not an argument here. Allowed: request_id, sandbox, limit, cursor, policy, roots.',
    ],
    [
      { request_id: 'a', policy: { type: 'x', net: true } },
      'policy.net',
      '`policy.net` is not an argument here. Allowed: type, network.',
    ],
    [{ request_id: 'a', policy: {} }, 'policy.type', '`policy.type` is required.'],
    [{ request_id: '   ' }, 'request_id', '`request_id` must not be blank (received "   ").'],
    [{ request_id: '' }, 'request_id', '`request_id` must not be empty (received "").'],
    [{ request_id: '😀😀😀😀😀😀' }, 'request_id', '`request_id` must have at most 5 characters, it has 6.'],
    [{ request_id: 7 }, 'request_id', '`request_id` must be a string (received 7).'],
    [
      { request_id: 'a', sandbox: 'none' },
      'sandbox',
      '`sandbox` must be one of "read-only", "workspace-write" (received "none").',
    ],
    [{ request_id: 'a', limit: 101 }, 'limit', '`limit` must be <= 100 (received 101).'],
    [{ request_id: 'a', limit: 1.5 }, 'limit', '`limit` must be an integer (received 1.5).'],
    [
      { request_id: 'a', cursor: { kind: 'turns' } },
      'cursor',
      '`cursor` must be a string (received {"kind":"turns"}). Pass the string exactly as it was returned.',
    ],
    [{ request_id: 'a', roots: ['x', 1] }, 'roots.1', '`roots.1` must be a string (received 1).'],
    [[], undefined, 'The arguments must be an object (received []).'],
    ['text', undefined, 'The arguments must be an object (received "text").'],
  ])('%j names the field, the rule and what was received', (args, field, message) => {
    expect(() => parse(args)).toThrow(
      expect.objectContaining({ code: 'invalid_arguments', field, message, next: 'fix_call' }),
    )
  })

  it('does not repeat a long text', () => {
    const secret = 'x'.repeat(500)
    expect(() => parse({ request_id: 'a', limit: secret })).toThrow(
      '`limit` must be an integer (received a string of 500 characters).',
    )
  })
})

describe('an argument that is null', () => {
  it('counts as left out, at any depth', () => {
    expect(parse({ request_id: 'a', limit: null, policy: { type: 'x', network: null } })).toEqual({
      request_id: 'a',
      policy: { type: 'x' },
    })
  })

  it('is missing when it is required', () => {
    expect(() => parse({ request_id: null })).toThrow('`request_id` is required.')
  })
})

describe('a length', () => {
  it('counts Unicode code points', () => {
    expect(parse({ request_id: '😀😀😀😀😀' })).toEqual({ request_id: '😀😀😀😀😀' })
  })
})

describe('a text that was cut inside a character', () => {
  it.each([
    [{ request_id: 'a\ud83d' }, 'request_id'],
    [{ request_id: 'a', policy: { type: '\udc00' } }, 'policy.type'],
    [{ request_id: 'a', roots: ['fine', 'x\ud800y'] }, 'roots.1'],
  ])('is refused by its field', (args, field) => {
    expect(() => parse(args)).toThrow(expect.objectContaining({ code: 'invalid_arguments', field }))
  })

  it('is told from a whole one', () => {
    expect(parse({ request_id: '😀' })).toEqual({ request_id: '😀' })
  })
})
