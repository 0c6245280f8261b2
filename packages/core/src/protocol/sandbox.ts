import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

/** The names of `sandbox` arguments, each with its policy type. */
export const sandboxTypes = {
  'read-only': 'readOnly',
  'workspace-write': 'workspaceWrite',
  'danger-full-access': 'dangerFullAccess',
} as const
export type SandboxName = keyof typeof sandboxTypes
export type SandboxType = (typeof sandboxTypes)[SandboxName]

export const sandboxNames = [
  'read-only',
  'workspace-write',
  'danger-full-access',
] as const satisfies readonly SandboxName[]

const closed = { additionalProperties: false } as const
const type = <const T extends SandboxType>(name: T) => Type.Literal(name)

/** A complete sandbox policy, as the App Server spells it. */
export const SandboxPolicy = Type.Union([
  Type.Object({ type: type('readOnly'), networkAccess: Type.Boolean() }, closed),
  Type.Object(
    {
      type: type('workspaceWrite'),
      writableRoots: Type.Array(Type.String()),
      networkAccess: Type.Boolean(),
      excludeTmpdirEnvVar: Type.Boolean(),
      excludeSlashTmp: Type.Boolean(),
    },
    closed,
  ),
  Type.Object({ type: type('dangerFullAccess') }, closed),
])
export type SandboxPolicy = Static<typeof SandboxPolicy>

const policy = Compile(SandboxPolicy)
/** Whether a value is a complete policy of a type that we know, with no field besides. */
export const isSandboxPolicy = (value: unknown): value is SandboxPolicy => policy.Check(value)

/** The members that each policy type has besides `type`. */
export const policyMembers = {
  readOnly: ['networkAccess'],
  workspaceWrite: ['writableRoots', 'networkAccess', 'excludeTmpdirEnvVar', 'excludeSlashTmp'],
  dangerFullAccess: [],
} as const satisfies Record<SandboxType, readonly string[]>

const plainPolicies: Record<SandboxType, SandboxPolicy> = {
  readOnly: { type: 'readOnly', networkAccess: false },
  workspaceWrite: {
    type: 'workspaceWrite',
    writableRoots: [],
    networkAccess: false,
    excludeTmpdirEnvVar: false,
    excludeSlashTmp: false,
  },
  dangerFullAccess: { type: 'dangerFullAccess' },
}

/** The policy that a sandbox name means by itself. */
export const plainPolicy = (name: SandboxName): SandboxPolicy => plainPolicies[sandboxTypes[name]]

/** The name of a policy's type. */
export const sandboxName = (wanted: SandboxPolicy): SandboxName =>
  sandboxNames.find((name) => sandboxTypes[name] === wanted.type) ?? 'read-only'

const letters = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '')

/** The sandbox name that is meant, whether spelled read-only, readOnly, ReadOnly or read_only; undefined for none. */
export const sandboxNameOf = (told: string): SandboxName | undefined =>
  sandboxNames.find((name) => letters(name) === letters(told))

const typeSpellings: Readonly<Record<string, SandboxType>> = {
  readOnly: 'readOnly',
  'read-only': 'readOnly',
  workspaceWrite: 'workspaceWrite',
  'workspace-write': 'workspaceWrite',
  dangerFullAccess: 'dangerFullAccess',
  'danger-full-access': 'dangerFullAccess',
}

const memberSpellings: Readonly<Record<string, string>> = {
  writable_roots: 'writableRoots',
  network_access: 'networkAccess',
  exclude_tmpdir_env_var: 'excludeTmpdirEnvVar',
  exclude_slash_tmp: 'excludeSlashTmp',
}

/** A sandbox in one spelling; of a type that we know, with all its members. */
export interface NormalisedSandbox {
  readonly type: string
  readonly [member: string]: unknown
}

/**
 * One spelling for what answers, rollouts and configurations write in three: camelCase type and members, absent
 * members as their defaults. Unknown types and members stay as they are, so that a comparison fails on them.
 */
export const normaliseSandbox = (written: object): NormalisedSandbox => {
  const members = Object.fromEntries(
    Object.entries(written).map(([key, value]) => [memberSpellings[key] ?? key, value as unknown]),
  )
  const name = typeSpellings[String(members.type)]
  return name === undefined
    ? { ...members, type: String(members.type) }
    : { ...plainPolicies[name], ...members, type: name }
}

/** Two policies are the same when one spelling of both is; the order of writable roots does not count. */
export const samePolicy = (a: object, b: object): boolean => canonical(a) === canonical(b)

const canonical = (written: object): string => {
  const { writableRoots, ...rest } = normaliseSandbox(written)
  const roots = Array.isArray(writableRoots) ? writableRoots.map(String).sort() : writableRoots
  return JSON.stringify(
    Object.entries({ ...rest, writableRoots: roots }).sort(([x], [y]) => (x < y ? -1 : 1)),
  )
}
