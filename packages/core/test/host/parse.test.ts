import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { BridgeError } from '../../src/contract/errors.ts'
import { inputParser } from '../../src/host/parse.ts'

const nested = (levels: number): unknown => {
  let value: unknown = 'ground'
  for (let level = 0; level < levels; level += 1) value = [value]
  return value
}

describe('arguments that nest thousands of levels', () => {
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
      field: '',
      message: 'The arguments must not nest more than 32 levels.',
    })
  })

  it('are judged by the schema as long as they are not too deep', () => {
    expect(faultOf({ text: nested(32) })).toMatchObject({ field: 'text', message: /must be a string/ })
  })
})
