import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  normaliseSandbox,
  plainPolicy,
  samePolicy,
  sandboxNames,
  type SandboxPolicy,
} from '../../src/protocol/sandbox.ts'

const policies = fc.oneof(
  fc.record({ type: fc.constant('readOnly' as const), networkAccess: fc.boolean() }),
  fc.record({
    type: fc.constant('workspaceWrite' as const),
    writableRoots: fc.uniqueArray(fc.string().map((name) => `/${name}`)),
    networkAccess: fc.boolean(),
    excludeTmpdirEnvVar: fc.boolean(),
    excludeSlashTmp: fc.boolean(),
  }),
  fc.record({ type: fc.constant('dangerFullAccess' as const) }),
)

const kebab = (policy: SandboxPolicy): object => {
  if (policy.type !== 'workspaceWrite')
    return {
      type: policy.type === 'readOnly' ? 'read-only' : 'danger-full-access',
      ...('networkAccess' in policy ? { network_access: policy.networkAccess } : {}),
    }
  return {
    type: 'workspace-write',
    writable_roots: policy.writableRoots,
    network_access: policy.networkAccess,
    exclude_tmpdir_env_var: policy.excludeTmpdirEnvVar,
    exclude_slash_tmp: policy.excludeSlashTmp,
  }
}

describe('the sandbox normaliser', () => {
  it('changes nothing that it has already normalised', () => {
    fc.assert(
      fc.property(policies, (policy) => {
        const once = normaliseSandbox(policy)
        expect(normaliseSandbox(once)).toEqual(once)
      }),
    )
  })

  it('sees the rollout spelling and the answer spelling of one policy as the same', () => {
    fc.assert(fc.property(policies, (policy) => samePolicy(kebab(policy), policy)))
  })

  it('tells two policies apart that differ in any member', () => {
    fc.assert(
      fc.property(policies, policies, (a, b) => {
        const same = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
        expect(samePolicy(a, b)).toBe(same)
      }),
    )
  })

  it('reads an absent networkAccess as no network', () => {
    expect(normaliseSandbox({ type: 'read-only' })).toEqual({ type: 'readOnly', networkAccess: false })
  })

  it('keeps a member that it does not know, so that a comparison fails on it', () => {
    for (const name of sandboxNames)
      expect(samePolicy(plainPolicy(name), { ...plainPolicy(name), gpuAccess: true })).toBe(false)
  })

  it('keeps a type that it does not know', () => {
    expect(normaliseSandbox({ type: 'externalSandbox', networkAccess: 'enabled' })).toEqual({
      type: 'externalSandbox',
      networkAccess: 'enabled',
    })
  })
})

const sorted = (policy: SandboxPolicy): object =>
  policy.type === 'workspaceWrite' ? { ...policy, writableRoots: [...policy.writableRoots].sort() } : policy
