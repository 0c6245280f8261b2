import { isObject } from '@codex-thread-bridge/test-fixtures'

const typeOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  return Number.isInteger(value) ? 'integer' : typeof value
}

/**
 * A second reading of the JSON Schema that tools may use (the schema gate allows no more), to compare the bridge's with.
 * A member that is null counts as left out. Goes no deeper than the schema.
 * @returns the dotted paths at which a value breaks it
 */
export const schemaFaults = (schema: unknown, value: unknown, path = ''): readonly string[] => {
  if (!isObject(schema)) throw new TypeError(`no schema at ${path}`)
  const type = typeOf(value)
  if (type !== schema.type && !(schema.type === 'number' && type === 'integer')) return [path]
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) return [path]
  if (typeof value === 'string') return textFits(schema, value) ? [] : [path]
  if (typeof value === 'number') return numberFits(schema, value) ? [] : [path]
  const inside = (key: string): string => (path === '' ? key : `${path}.${key}`)
  if (Array.isArray(value))
    return value.flatMap((entry, index) => schemaFaults(schema.items, entry, inside(String(index))))
  return isObject(value) ? memberFaults(schema, value, inside) : []
}

const memberFaults = (
  schema: { readonly [key: string]: unknown },
  value: { readonly [key: string]: unknown },
  inside: (key: string) => string,
): readonly string[] => {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : []
  const given = Object.entries(value).filter(([, member]) => member !== null)
  const missing = required.map(String).filter((key) => !given.some(([name]) => name === key))
  const wrong = given.flatMap(([key, member]) =>
    Object.hasOwn(properties, key) ? schemaFaults(properties[key], member, inside(key)) : [inside(key)],
  )
  return [...missing.map(inside), ...wrong]
}

const textFits = (schema: { readonly [key: string]: unknown }, text: string): boolean => {
  const { minLength = 0, maxLength = Infinity, pattern } = schema
  const length = [...text].length
  return (
    length >= Number(minLength) &&
    length <= Number(maxLength) &&
    (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text))
  )
}

const numberFits = (
  { minimum = -Infinity, maximum = Infinity }: { readonly [key: string]: unknown },
  n: number,
) => n >= Number(minimum) && n <= Number(maximum)

/** The same without the members that count as left out; of a value that fits its schema. */
export const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  const given = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(given.map(([key, member]) => [key, withoutNulls(member)]))
}

/** No schema goes deeper: what is below breaks it anyway. */
const DEEPEST = 32

/** The dotted paths of texts that are cut inside a character, and of objects with such a name in them. */
export const brokenTexts = (value: unknown, path: readonly string[] = []): readonly string[] => {
  if (typeof value === 'string') return isWhole(value) ? [] : [path.join('.')]
  if (typeof value !== 'object' || value === null || path.length > DEEPEST) return []
  return Object.entries(value)
    .filter(([, member]) => member !== null)
    .flatMap(([key, member]) => [
      ...(isWhole(key) ? [] : [path.join('.')]),
      ...brokenTexts(member, [...path, key]),
    ])
}

const isWhole = (text: string): boolean => Buffer.from(text).toString() === text
