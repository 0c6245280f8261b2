import { BridgeError } from '../contract/errors.ts'
import type { MutationContext } from '../contract/tool.ts'
import type { ServerInfo } from '../contract/app-server.ts'
import type { Environment } from '../protocol/items.ts'
import {
  plainPolicy,
  samePolicy,
  sandboxName,
  sandboxNames,
  type SandboxName,
  type SandboxPolicy,
} from '../protocol/sandbox.ts'

const PROFILE_PAGE = 100

const builtIn: Readonly<Record<SandboxName, string>> = {
  'read-only': ':read-only',
  'workspace-write': ':workspace',
  'danger-full-access': ':danger-full-access',
}

/** What the caller wants a thread to be allowed: a policy known whole, or a profile by its name. */
export type WantedAccess = { readonly policy: SandboxPolicy } | { readonly profile: string }

/** How the access goes out, and what may then be compared. */
export interface RequestedAccess {
  readonly requestedAs: 'permissions' | 'sandbox'
  readonly profile?: string
  readonly policy?: SandboxPolicy
}

/** The built-in profile that means exactly this policy, or undefined for a custom one. */
export const profileOfPolicy = (policy: SandboxPolicy): string | undefined => {
  const name = sandboxName(policy)
  return samePolicy(policy, plainPolicy(name)) ? builtIn[name] : undefined
}

/** The policy of a built-in profile; a user's own profile is not known whole. */
export const policyOfProfile = (profile: string): SandboxPolicy | undefined => {
  const name = sandboxNames.find((known) => builtIn[known] === profile)
  return name === undefined ? undefined : plainPolicy(name)
}

/** Reads which profiles a server allows, once a connection and directory. */
export const createAllowedProfiles = () => {
  const known = new WeakMap<ServerInfo, Map<string, readonly string[]>>()
  return async (ctx: MutationContext<'permissionProfile/list'>, cwd: string): Promise<readonly string[]> => {
    const server = await ctx.server()
    const ofServer = known.get(server) ?? new Map<string, readonly string[]>()
    known.set(server, ofServer)
    const listed = ofServer.get(cwd) ?? (await listAllowed(ctx, cwd))
    ofServer.set(cwd, listed)
    return listed
  }
}
export type AllowedProfiles = ReturnType<typeof createAllowedProfiles>

const listAllowed = async (
  ctx: MutationContext<'permissionProfile/list'>,
  cwd: string,
): Promise<readonly string[]> => {
  const allowed: string[] = []
  let cursor: string | undefined
  do {
    const page = await ctx.call('permissionProfile/list', {
      cwd,
      limit: PROFILE_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    })
    allowed.push(...page.data.filter((profile) => profile.allowed).map((profile) => profile.id))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return allowed
}

/**
 * The form in which access is asked for (policy: Policies): a profile is the only one that comes back unchanged after
 * a restart on every tested version.
 * @throws BridgeError permission_profile_unavailable
 */
export const requestAccess = (wanted: WantedAccess, allowed: readonly string[]): RequestedAccess => {
  if ('profile' in wanted) {
    const { profile } = wanted
    if (!allowed.includes(profile))
      throw new BridgeError(
        'permission_profile_unavailable',
        `The App Server does not allow the permission profile ${JSON.stringify(profile)}. Allowed: ${allowed.join(', ')}.`,
        { field: 'permissions' },
      )
    const policy = policyOfProfile(profile)
    return { requestedAs: 'permissions', profile, ...(policy === undefined ? {} : { policy }) }
  }
  const profile = profileOfPolicy(wanted.policy)
  return profile !== undefined && allowed.includes(profile)
    ? { requestedAs: 'permissions', profile, policy: wanted.policy }
    : { requestedAs: 'sandbox', policy: wanted.policy }
}

/** The `sandbox_workspace_write` settings that make a thread's policy exactly this one, whatever the user's config says. */
const workspaceConfig = (policy: SandboxPolicy): Readonly<Record<string, unknown>> =>
  policy.type === 'workspaceWrite'
    ? {
        sandbox_workspace_write: {
          writable_roots: policy.writableRoots,
          network_access: policy.networkAccess,
          exclude_tmpdir_env_var: policy.excludeTmpdirEnvVar,
          exclude_slash_tmp: policy.excludeSlashTmp,
        },
      }
    : {}

/** `thread/start` parameters for the access. */
export const startParams = (access: RequestedAccess) =>
  access.profile !== undefined
    ? { permissions: access.profile, config: {} }
    : access.policy !== undefined
      ? { sandbox: sandboxName(access.policy), config: workspaceConfig(access.policy) }
      : { config: {} }

/** `thread/settings/update` parameters that write the access into the rollout. */
export const settingsParams = (
  access: RequestedAccess,
  approval: { readonly approvalPolicy: Environment['approvalPolicy']; readonly approvalsReviewer?: string },
) =>
  access.profile !== undefined
    ? { permissions: access.profile }
    : { ...(access.policy === undefined ? {} : { sandboxPolicy: access.policy }), ...approval }
