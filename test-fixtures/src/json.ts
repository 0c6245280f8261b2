export type JsonObject = { readonly [key: string]: unknown }

/** True for an object that is not null and not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a dotted path ("thread.turns.0.id") of parsed JSON; undefined where the path leads nowhere. */
export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>(member, value)
}

function member(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)]
  return isObject(value) ? value[key] : undefined
}

/** The text at a dotted path. Throws, with the value in the message, when there is none. */
export function textAt(value: unknown, path: string): string {
  const found = at(value, path)
  if (typeof found === 'string') return found
  throw new TypeError(`no text at ${path} of ${JSON.stringify(value)}`)
}

/** The list at a dotted path. Throws, with the value in the message, when there is none. */
export function listAt(value: unknown, path: string): readonly unknown[] {
  const found = at(value, path)
  if (Array.isArray(found)) return found
  throw new TypeError(`no list at ${path} of ${JSON.stringify(value)}`)
}
