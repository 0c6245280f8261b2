import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Environment } from '../protocol/items.ts'
import {
  isSandboxPolicy,
  normaliseSandbox,
  plainPolicy,
  sandboxNameOf,
  type SandboxPolicy,
} from '../protocol/sandbox.ts'
import { policyOfProfile } from './profile.ts'

/** What an agent may do: a policy known whole, or words for what has limits that cannot be told. */
export type Access = { readonly policy: SandboxPolicy } | { readonly unknown: string }

/** Everything that a call names and the operator may limit; each part of it is judged. */
export interface NamedAccess {
  readonly accesses: readonly Access[]
  /** Directories to work in or to write to, as they were named. */
  readonly directories: readonly string[]
}

const members = Compile(Type.Record(Type.String(), Type.Unknown()))
const texts = Compile(Type.Array(Type.String()))
const workspaceSettings = Compile(
  Type.Object(
    {
      writable_roots: Type.Array(Type.String()),
      network_access: Type.Boolean(),
      exclude_tmpdir_env_var: Type.Boolean(),
      exclude_slash_tmp: Type.Boolean(),
    },
    { additionalProperties: false },
  ),
)

/** Settings of a thread that widen nothing; any other could (an MCP server of its own, for one). */
const harmlessSettings: readonly string[] = ['model_reasoning_effort', 'sandbox_workspace_write']

type Members = Readonly<Record<string, unknown>>
const membersOf = (value: unknown): Members => (members.Check(value) ? value : {})

const accessOfProfile = (profile: string): Access => {
  const policy = policyOfProfile(profile)
  return policy === undefined ? { unknown: `the permission profile ${JSON.stringify(profile)}` } : { policy }
}

const accessOfSandbox = (written: object): Access => {
  const policy = normaliseSandbox(written)
  return isSandboxPolicy(policy) ? { policy } : { unknown: `the sandbox ${JSON.stringify(policy)}` }
}

/** A sandbox name takes what it lacks from the App Server's configuration, network included. */
const accessOfName = (told: string, settings: Members): Access => {
  const name = sandboxNameOf(told)
  if (name === undefined) return { unknown: `the sandbox ${JSON.stringify(told)}` }
  if (name !== 'workspace-write') return { policy: plainPolicy(name) }
  return workspaceSettings.Check(settings.sandbox_workspace_write)
    ? accessOfSandbox({ type: name, ...settings.sandbox_workspace_write })
    : { unknown: 'workspace-write with settings of the App Server’s configuration' }
}

const writableRootsOf = (accesses: readonly Access[]): readonly string[] =>
  accesses.flatMap((access) =>
    'policy' in access && access.policy.type === 'workspaceWrite' ? access.policy.writableRoots : [],
  )

/** The access and the directories that a method's parameters name; `thread/start` and its like, settings, overrides. */
export const accessOfParams = (params: object): NamedAccess => {
  const { cwd, permissions, sandbox, sandboxPolicy, config, runtimeWorkspaceRoots } = membersOf(params)
  const settings = membersOf(config)
  const accesses: readonly Access[] = [
    ...(typeof permissions === 'string' ? [accessOfProfile(permissions)] : []),
    ...(members.Check(sandboxPolicy) ? [accessOfSandbox(sandboxPolicy)] : []),
    ...(typeof sandbox === 'string' ? [accessOfName(sandbox, settings)] : []),
    ...Object.keys(settings)
      .filter((name) => !harmlessSettings.includes(name))
      .map((name) => ({ unknown: `the setting ${JSON.stringify(name)}` })),
  ]
  return {
    accesses,
    directories: [
      ...(typeof cwd === 'string' ? [cwd] : []),
      ...(texts.Check(runtimeWorkspaceRoots) ? runtimeWorkspaceRoots : []),
      ...writableRootsOf(accesses),
    ],
  }
}

/**
 * What a thread may do, as the App Server reports it. Of a profile that is not built in, `sandbox` is an approximation
 * (measured: a profile that may write everywhere without network reads as `externalSandbox`), so it counts as unknown.
 */
export const accessOfEnvironment = (environment: Environment): NamedAccess => {
  const { activePermissionProfile, sandbox, thread, cwd, runtimeWorkspaceRoots = [] } = environment
  const profile = activePermissionProfile?.id
  const access =
    profile === undefined || policyOfProfile(profile) !== undefined
      ? accessOfSandbox(sandbox)
      : accessOfProfile(profile)
  return {
    accesses: [access],
    directories: [cwd, thread.cwd, ...runtimeWorkspaceRoots, ...writableRootsOf([access])],
  }
}
