import type { TObject } from 'typebox'
import type { TLocalizedValidationError } from 'typebox/error'

export interface Fault {
  readonly field: string
  readonly message: string
}

const shown = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string' && value.length > 60) return `a string of ${[...value].length} characters`
  const text = JSON.stringify(value)
  return text.length > 80
    ? `${Array.isArray(value) ? 'an array' : 'an object'} of ${text.length} bytes`
    : text
}

const at = (value: unknown, pointer: readonly string[]): unknown =>
  pointer.reduce<unknown>(
    (inside, key) =>
      typeof inside === 'object' && inside !== null
        ? Object.entries(inside).find(([k]) => k === key)?.[1]
        : undefined,
    value,
  )

const segments = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

/** The schema of the object that a pointer names, where it is a plain object schema. */
const objectAt = (schema: TObject, path: readonly string[]): readonly string[] => {
  const inside = at(
    schema,
    path.flatMap((key) => (/^\d+$/.test(key) ? ['items'] : ['properties', key])),
  )
  const properties = path.length === 0 ? schema.properties : at(inside, ['properties'])
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
}

const dotted = (path: readonly string[]): string => path.join('.')

/** The rule of one error, in words that say what to change. */
const ruleOf = (error: TLocalizedValidationError, received: unknown): string => {
  switch (error.keyword) {
    case 'type':
      return `must be ${article(String(error.params.type))}`
    case 'enum':
      return `must be one of ${error.params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`
    case 'minLength':
      return 'must not be empty'
    case 'maxLength':
      return `must have at most ${error.params.limit.toLocaleString('en-US')} characters${
        typeof received === 'string' ? `, it has ${[...received].length.toLocaleString('en-US')}` : ''
      }`
    case 'pattern':
      return error.params.pattern === '\\S'
        ? 'must not be blank'
        : `must match ${String(error.params.pattern)}`
    case 'minimum':
    case 'maximum':
      return `must be ${error.params.comparison} ${String(error.params.limit)}`
    default:
      return error.message
  }
}

const article = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)

/** The first thing wrong with an input, in words: field, rule, received. */
export const explain = (
  schema: TObject,
  errors: readonly TLocalizedValidationError[],
  input: unknown,
): Fault => {
  const unknownKey = errors.find((error) => error.keyword === 'additionalProperties')
  if (unknownKey?.keyword === 'additionalProperties') {
    const path = segments(unknownKey.instancePath)
    const key = String(unknownKey.params.additionalProperties[0])
    const allowed = objectAt(schema, path)
    return {
      field: dotted([...path, key]),
      message: `\`${dotted([...path, key])}\` is not an argument here. Allowed: ${allowed.join(', ')}.`,
    }
  }
  const missing = errors.find((error) => error.keyword === 'required')
  if (missing?.keyword === 'required') {
    const path = segments(missing.instancePath)
    const field = dotted([...path, String(missing.params.requiredProperties[0])])
    return { field, message: `\`${field}\` is required.` }
  }
  const error = errors[0]
  if (error === undefined) return { field: '', message: 'The arguments do not fit the schema.' }
  const path = segments(error.instancePath)
  const received = at(input, path)
  const field = dotted(path)
  const name = field === '' ? 'The arguments' : `\`${field}\``
  const told = error.keyword === 'maxLength' ? '' : ` (received ${shown(received)})`
  // Clients that parse JSON-looking strings turn a cursor into an object.
  const advice =
    /cursor$/i.test(path.at(-1) ?? '') && error.keyword === 'type'
      ? ' Pass the string exactly as it was returned.'
      : ''
  return { field, message: `${name} ${ruleOf(error, received)}${told}.${advice}` }
}
