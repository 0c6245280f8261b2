import type { TObject } from 'typebox'
import { Compile } from 'typebox/compile'
import { BridgeError } from '../contract/errors.ts'
import { explain } from './explain.ts'

/** A member that is null counts as left out, at any depth of objects (contract: bridge-tools). */
const dropNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((entry: unknown) => (entry === null ? entry : dropNulls(entry)))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([key, member]) => [key, dropNulls(member)]),
  )
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Input that has passed its schema. */
export type ParsedInput = Readonly<Record<string, unknown>>

/**
 * A checker for one tool's arguments.
 * @throws BridgeError invalid_arguments that names the field, the rule and what was received
 */
export const inputParser = (schema: TObject) => {
  const validator = Compile(schema)
  return (args: unknown): ParsedInput => {
    const input = dropNulls(args ?? {})
    if (validator.Check(input) && isRecord(input)) return input
    const fault = explain(schema, validator.Errors(input), input)
    throw new BridgeError('invalid_arguments', fault.message, { field: fault.field })
  }
}
