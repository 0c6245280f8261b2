/** An event of a CLI: any JSON object. What it lacks is told as undefined; versions differ. */
export type JsonEvent = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is JsonEvent =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The member at a path, where there is one. */
export const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inside, key) => (isRecord(inside) ? inside[key] : undefined), value)

export const textAt = (value: unknown, ...path: readonly string[]): string | undefined => {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : undefined
}

export const numberAt = (value: unknown, ...path: readonly string[]): number | undefined => {
  const found = at(value, ...path)
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}

export const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

/** JSON of a value, for display; nothing for what has none. */
export const shown = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)
