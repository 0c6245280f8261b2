import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { Type, type Static } from 'typebox'
import type { InputFault } from '../contract/tool.ts'
import type { WantedAccess } from '../policy/profile.ts'
import {
  isSandboxPolicy,
  plainPolicy,
  policyMembers,
  sandboxNames,
  sandboxTypes,
  type SandboxName,
  type SandboxPolicy,
} from '../protocol/sandbox.ts'

const closed = { additionalProperties: false } as const

/** A policy of any type in one flat object: hosts reject unions, so `policyFault` says what each type needs. */
export const SandboxPolicyInput = Type.Object(
  {
    type: Type.Enum([...Object.values(sandboxTypes)], {
      type: 'string',
      description: 'Policy type, agreeing with sandbox',
    }),
    networkAccess: Type.Optional(
      Type.Boolean({ description: 'readOnly (must be false at creation), workspaceWrite' }),
    ),
    writableRoots: Type.Optional(
      Type.Array(Type.String({ description: 'Absolute path' }), {
        description: 'workspaceWrite: further writable directories',
      }),
    ),
    excludeTmpdirEnvVar: Type.Optional(
      Type.Boolean({ description: 'workspaceWrite: $TMPDIR is not writable' }),
    ),
    excludeSlashTmp: Type.Optional(Type.Boolean({ description: 'workspaceWrite: /tmp is not writable' })),
  },
  {
    ...closed,
    description:
      'Complete policy: all members of its type and no others. Left out: the plain policy of `sandbox`.',
  },
)

export type PolicyInput = Static<typeof SandboxPolicyInput>

export const SandboxInput = Type.Enum([...sandboxNames], {
  type: 'string',
  description: 'What the thread may do (default read-only)',
})

export interface AccessInput {
  readonly sandbox?: SandboxName
  readonly sandbox_policy?: PolicyInput
  readonly permissions?: string
}

/** All and only the members of its type; `field` is the argument's name in the tool. */
const memberFault = (field: string, policy: PolicyInput): InputFault | undefined => {
  const needed: readonly string[] = policyMembers[policy.type]
  const missing = needed.find((member) => !(member in policy))
  if (missing !== undefined)
    return {
      field: `${field}.${missing}`,
      message: `\`${field}.${missing}\` is required when type is ${policy.type}.`,
    }
  const extra = Object.keys(policy).find((member) => member !== 'type' && !needed.includes(member))
  if (extra === undefined) return undefined
  const allowed = ['type', ...needed].join(', ')
  return {
    field: `${field}.${extra}`,
    message: `\`${field}.${extra}\` is not a member of type ${policy.type}. Allowed: ${allowed}.`,
  }
}

/** What stands in the way of a directory; one that is not there yet is none. */
const directoryFault = (path: string): string | undefined => {
  try {
    const exists = statSync(path, { throwIfNoEntry: false })
    return exists?.isDirectory() === false ? 'exists and is not a directory' : undefined
  } catch {
    return 'cannot be a directory'
  }
}

/** A socket or file as a writable root breaks every shell start of the task. Looks at the file system. */
export const rootFault = (name: string, policy: SandboxPolicy): InputFault | undefined => {
  if (policy.type !== 'workspaceWrite') return undefined
  for (const [index, root] of policy.writableRoots.entries()) {
    const field = `${name}.writableRoots.${index}`
    if (!isAbsolute(root))
      return { field, message: `\`${field}\` must be an absolute path (received ${JSON.stringify(root)}).` }
    const fault = directoryFault(root)
    if (fault !== undefined) return { field, message: `\`${field}\` ${fault}: ${root}` }
  }
  return undefined
}

/** What the schema cannot say about a policy given whole; `field` is the argument's name in the tool. */
export const policyFault = (
  field: string,
  policy: PolicyInput,
  sandbox: SandboxName | undefined,
): InputFault | undefined => {
  const members = memberFault(field, policy)
  if (members !== undefined) return members
  if (sandbox !== undefined && sandboxTypes[sandbox] !== policy.type)
    return {
      field: `${field}.type`,
      message: `\`${field}.type\` ${policy.type} does not agree with sandbox ${sandbox} (${sandboxTypes[sandbox]}).`,
    }
  if (policy.type === 'readOnly' && policy.networkAccess === true)
    return {
      field: `${field}.networkAccess`,
      message: 'Read-only with network cannot be asked for when a thread is created.',
      code: 'unsupported_sandbox_policy',
    }
  return undefined
}

/** What the schema cannot say about the three ways to ask for access. */
export const accessFault = (input: AccessInput): InputFault | undefined => {
  const { sandbox, sandbox_policy: policy, permissions } = input
  if (permissions !== undefined && (sandbox !== undefined || policy !== undefined))
    return {
      field: 'permissions',
      message: '`permissions` excludes `sandbox` and `sandbox_policy`: pass one or the other.',
    }
  return policy && policyFault('sandbox_policy', policy, sandbox)
}

/** The roots are looked at only when the call is ours to make: a replay never looks at the file system. */
export const accessRootFault = ({ sandbox_policy: policy }: AccessInput): InputFault | undefined =>
  isSandboxPolicy(policy) ? rootFault('sandbox_policy', policy) : undefined

/** The access that an input without a fault asks for. */
export const wantedAccess = ({ sandbox, sandbox_policy: policy, permissions }: AccessInput): WantedAccess => {
  if (permissions !== undefined) return { profile: permissions }
  return { policy: isSandboxPolicy(policy) ? policy : plainPolicy(sandbox ?? 'read-only') }
}
