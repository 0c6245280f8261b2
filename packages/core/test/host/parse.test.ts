import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { BridgeError } from '../../src/contract/errors.ts'
import { inputParser } from '../../src/host/parse.ts'

const nested = (levels: number): unknown => {
  let value: unknown = 'ground'
  for (let level = 0; level < levels; level += 1) value = [value]
  return value
}

const parse = inputParser(
  Type.Object({ text: Type.Optional(Type.String()) }, { additionalProperties: false }),
)
const faultOf = (args: unknown): unknown => {
  try {
    return parse(args)
  } catch (error) {
    return BridgeError.is(error) ? { code: error.code, field: error.field, message: error.message } : error
  }
}

describe('text that was cut inside a character', () => {
  it('is refused by the name of its field', () => {
    expect(faultOf({ text: 'cut \ud83d' })).toEqual({
      code: 'invalid_arguments',
      field: 'text',
      message: '`text` has half a character in it (an unpaired surrogate).',
    })
  })

  it('is no argument where an object is to be', () => {
    expect(faultOf('cut \ud83d')).toEqual({
      code: 'invalid_arguments',
      field: undefined,
      message: 'The arguments must be an object (received "cut \\ud83d").',
    })
  })

  it('is told without a name where it is the name', () => {
    expect(faultOf({ 'cut \ud83d': 'text' })).toEqual({
      code: 'invalid_arguments',
      field: undefined,
      message: 'A name in the arguments has half a character in it (an unpaired surrogate).',
    })
  })
})

describe('arguments that nest thousands of levels', () => {
  it('are refused by the name of their field', () => {
    expect(faultOf({ text: nested(100_000) })).toEqual({
      code: 'invalid_arguments',
      field: 'text',
      message: '`text` must not nest more than 32 levels.',
    })
  })

  it('are refused as a whole where they have no fields', () => {
    expect(faultOf(nested(100_000))).toEqual({
      code: 'invalid_arguments',
      field: undefined,
      message: 'The arguments must not nest more than 32 levels.',
    })
  })

  it('are judged by the schema as long as they are not too deep', () => {
    expect(faultOf({ text: nested(32) })).toMatchObject({ field: 'text', message: /must be a string/ })
  })
})
