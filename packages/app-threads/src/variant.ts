import type { InputFault } from '@codex-thread-bridge/core/contract'

/** What one variant of an object needs and allows besides `type`. */
export interface Variant {
  readonly needs?: readonly string[]
  readonly allows?: readonly string[]
}

/** The first member that does not go with the object's `type`, or is missing from it: schemas stay flat for hosts that reject unions. */
export const variantFault = (
  value: { readonly type: string },
  path: string,
  variants: Readonly<Record<string, Variant>>,
): InputFault | undefined => {
  const { needs = [], allows = [] } = variants[value.type] ?? {}
  const members: Readonly<Record<string, unknown>> = { ...value }
  const kind = `${path}.type ${JSON.stringify(value.type)}`
  const allowed = [...needs.map((name) => `${name} (required)`), ...allows]
  const rule = allowed.length === 0 ? 'It takes no other member.' : `It takes: ${allowed.join(', ')}.`
  const extra = Object.keys(members).find((name) => name !== 'type' && ![...needs, ...allows].includes(name))
  if (extra !== undefined)
    return { field: `${path}.${extra}`, message: `\`${path}.${extra}\` does not go with ${kind}. ${rule}` }
  const missing = needs.find((name) => members[name] === undefined)
  return missing === undefined
    ? undefined
    : { field: `${path}.${missing}`, message: `\`${path}.${missing}\` is required with ${kind}. ${rule}` }
}
