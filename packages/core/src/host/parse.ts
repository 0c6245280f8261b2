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

/** No argument needs more levels, and what has thousands would exhaust the stack. */
const DEEPEST = 32

const deeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((member) => deeperThan(levels - 1, member)))

const checkDepth = (args: unknown): void => {
  const members = isRecord(args) ? Object.entries(args) : [['', args] as const]
  const field = members.find(([, member]) => deeperThan(DEEPEST, member))?.[0]
  if (field === undefined) return
  throw invalid(field, `${named(field)} must not nest more than ${DEEPEST} levels.`)
}

const named = (field: string): string => (field === '' ? 'The arguments' : `\`${field}\``)

/** Without a field for what is wrong with the arguments as a whole. */
const invalid = (field: string, message: string, hint?: string): BridgeError =>
  new BridgeError('invalid_arguments', message, {
    ...(field === '' ? {} : { field }),
    ...(hint === undefined ? {} : { hint }),
  })

const LONE_SURROGATE = /\p{Surrogate}/u

/** The path of the first text, or name, with half a character in it: it would not arrive as it was given. */
const illFormed = (value: unknown, path: readonly string[] = []): readonly string[] | undefined => {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? path : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const found = LONE_SURROGATE.test(key) ? path : illFormed(member, [...path, key])
    if (found !== undefined) return found
  }
  return undefined
}

/** Input that has passed its schema. */
export type ParsedInput = Readonly<Record<string, unknown>>

/**
 * A checker for one tool's arguments.
 * @throws BridgeError invalid_arguments that names the field, the rule and what was received
 */
export const inputParser = (schema: TObject) => {
  const validator = Compile(schema)
  return (args: unknown): ParsedInput => {
    checkDepth(args)
    const input = dropNulls(args ?? {})
    const broken = isRecord(input) ? illFormed(input)?.join('.') : undefined
    if (broken !== undefined)
      throw invalid(
        broken,
        `${broken === '' ? 'A name in the arguments' : named(broken)} has half a character in it (an unpaired surrogate).`,
        'Pass the text whole: it was cut inside a character.',
      )
    if (validator.Check(input) && isRecord(input)) return input
    const fault = explain(schema, validator.Errors(input), input)
    throw invalid(fault.field, fault.message)
  }
}
