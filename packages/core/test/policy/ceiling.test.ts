import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Access } from '../../src/policy/access.ts'
import {
  accessWords,
  callerAccess,
  openCeiling,
  refuseAccess,
  refuseDirectory,
  type Ceiling,
} from '../../src/policy/ceiling.ts'
import {
  plainPolicy,
  sandboxNames,
  type SandboxName,
  type SandboxPolicy,
} from '../../src/protocol/sandbox.ts'

const booleans = fc.boolean()
const path = fc.array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 3 }).map((names) => `/${names.join('/')}`)
const paths = fc.uniqueArray(path, { maxLength: 4 })

const readOnly = booleans.map((networkAccess): SandboxPolicy => ({ type: 'readOnly', networkAccess }))
const workspaceWrite = fc.record({
  type: fc.constant('workspaceWrite' as const),
  writableRoots: paths,
  networkAccess: booleans,
  excludeTmpdirEnvVar: booleans,
  excludeSlashTmp: booleans,
})
const policies: fc.Arbitrary<SandboxPolicy> = fc.oneof(
  readOnly,
  workspaceWrite,
  fc.constant<SandboxPolicy>({ type: 'dangerFullAccess' }),
)
const accesses: fc.Arbitrary<Access> = fc.oneof(
  policies.map((policy) => ({ policy })),
  fc.constant({ unknown: 'the permission profile "mine"' }),
)
const ceilings: fc.Arbitrary<Ceiling> = fc.record({
  maxSandbox: fc.constantFrom(...sandboxNames),
  allowRoots: paths,
  network: booleans,
  escalation: booleans,
})
const callers = fc
  .option(fc.constantFrom(...sandboxNames, 'custom'), { nil: undefined })
  .map((told) => callerAccess(told))

/** How much an access is of each kind, by itself: its class, and whether it has network. What is unknown has all. */
const extent = (access: Access): readonly [number, number] => {
  if ('unknown' in access || access.policy.type === 'dangerFullAccess') return [2, 1]
  return [access.policy.type === 'readOnly' ? 0 : 1, access.policy.networkAccess ? 1 : 0]
}
const isWider = (one: Access, other: Access): boolean =>
  extent(one).every((amount, kind) => amount >= (extent(other)[kind] ?? 0))

const allows = (ceiling: Ceiling, told: string | undefined, access: Access): boolean =>
  refuseAccess(ceiling, callerAccess(told), access) === undefined

describe('a ceiling', () => {
  it('never allows a wider access where it refuses a narrower one', () => {
    fc.assert(
      fc.property(ceilings, callers, accesses, accesses, (ceiling, caller, one, other) => {
        fc.pre(isWider(one, other))
        const refused = refuseAccess(ceiling, caller, other) !== undefined
        return !refused || refuseAccess(ceiling, caller, one) !== undefined
      }),
    )
  })

  it('that is lowered never allows more, and a caller with less never may more', () => {
    const lower = (ceiling: Ceiling): Ceiling[] => [
      { ...ceiling, maxSandbox: sandboxNames[sandboxNames.indexOf(ceiling.maxSandbox) - 1] ?? 'read-only' },
      { ...ceiling, network: false },
      { ...ceiling, escalation: false },
    ]
    fc.assert(
      fc.property(ceilings, callers, accesses, (ceiling, caller, access) => {
        fc.pre(refuseAccess(ceiling, caller, access) !== undefined)
        const less = caller && callerAccess(sandboxNames[sandboxNames.indexOf(caller.sandbox) - 1])
        return [
          ...lower(ceiling).map((low) => [low, caller] as const),
          [ceiling, less ?? caller] as const,
        ].every(([low, who]) => refuseAccess(low, who, access) !== undefined)
      }),
    )
  })

  it('allows everything when nothing is set and the caller is not known', () => {
    fc.assert(fc.property(accesses, (access) => allows(openCeiling, undefined, access)))
  })

  it('never lets a caller that is known have more than itself, unless escalation is allowed', () => {
    fc.assert(
      fc.property(accesses, fc.constantFrom(...sandboxNames), (access, told) => {
        const within = isWider({ policy: plainPolicy(told) }, access)
        return allows(openCeiling, told, access) === within
      }),
    )
  })

  it('looks at the caller only below the operator’s own limit', () => {
    fc.assert(
      fc.property(ceilings, callers, accesses, (ceiling, caller, access) => {
        const alone = refuseAccess({ ...ceiling, escalation: true }, caller, access)
        return alone === undefined || refuseAccess(ceiling, caller, access)?.code === 'ceiling_exceeded'
      }),
    )
  })

  it('judges directories whatever the order of the roots', () => {
    fc.assert(
      fc.property(ceilings, path, (ceiling, directory) => {
        const reversed = { ...ceiling, allowRoots: [...ceiling.allowRoots].reverse() }
        const allowed = (one: Ceiling) => refuseDirectory(one, directory) === undefined
        return allowed(ceiling) === allowed(reversed)
      }),
    )
  })

  it('allows below a directory what it allows as that directory, and more roots never allow less', () => {
    fc.assert(
      fc.property(paths, path, path, (allowRoots, directory, root) => {
        fc.pre(allowRoots.length > 0)
        const allowed = (roots: readonly string[], one: string) =>
          refuseDirectory({ ...openCeiling, allowRoots: roots }, one) === undefined
        const below = directory === '/' ? '/x' : `${directory}/x`
        return (
          !allowed(allowRoots, directory) ||
          (allowed(allowRoots, below) && allowed([...allowRoots, root], directory))
        )
      }),
    )
  })
})

describe('a directory', () => {
  const ceiling = { ...openCeiling, allowRoots: ['/a', '/b/one'] }
  it.each([
    ['/a', true],
    ['/a/b', true],
    ['/ab', false],
    ['/', false],
    ['/work', false],
    ['/b/one/two', true],
    ['/b/one-two', false],
  ])('%s below /a or /b/one: %s', (directory, allowed) => {
    expect(refuseDirectory(ceiling, directory) === undefined).toBe(allowed)
  })

  it('that cannot be followed is in no root, and anywhere when there is none', () => {
    expect(refuseDirectory(ceiling, undefined)).toEqual({
      code: 'ceiling_exceeded',
      because: 'this bridge works only in /a, /b/one (--allow-root)',
    })
    expect(refuseDirectory(openCeiling, undefined)).toBeUndefined()
  })

  it('is anywhere below the root of the file system', () => {
    expect(refuseDirectory({ ...openCeiling, allowRoots: ['/'] }, '/etc')).toBeUndefined()
  })
})

describe('a refusal', () => {
  const withNetwork: Access = {
    policy: {
      type: 'workspaceWrite',
      writableRoots: [],
      networkAccess: true,
      excludeTmpdirEnvVar: false,
      excludeSlashTmp: false,
    },
  }
  const full: Access = { policy: { type: 'dangerFullAccess' } }
  const mine: Access = { unknown: 'the permission profile "mine"' }
  const below = (change: Partial<Ceiling>): Ceiling => ({ ...openCeiling, ...change })
  const toCaller = (doubt: string) =>
    `the agent that calls has ${doubt}; it may not start or feed an agent with wider access than its own, unless the operator sets --allow-escalation`

  it.each<[string, Ceiling, string | undefined, Access, string, string]>([
    [
      'more than the operator allows',
      below({ maxSandbox: 'workspace-write' }),
      undefined,
      full,
      'ceiling_exceeded',
      'this bridge allows workspace-write at most (--max-sandbox)',
    ],
    [
      'network that the operator does not allow',
      below({ network: false }),
      undefined,
      withNetwork,
      'ceiling_exceeded',
      'this bridge allows no network (--no-network)',
    ],
    [
      'the network of full access',
      below({ network: false }),
      undefined,
      full,
      'ceiling_exceeded',
      'this bridge allows no network (--no-network)',
    ],
    [
      'a profile whose limits are not known',
      below({ maxSandbox: 'workspace-write' }),
      undefined,
      mine,
      'ceiling_exceeded',
      'this bridge allows workspace-write at most (--max-sandbox)',
    ],
    ['more than the caller has', openCeiling, 'read-only', full, 'escalation_refused', toCaller('read-only')],
    [
      'network that the caller may not have',
      openCeiling,
      'workspace-write',
      withNetwork,
      'escalation_refused',
      toCaller('workspace-write, and its client does not tell whether with network'),
    ],
    [
      'a profile, to a caller with limits',
      openCeiling,
      'workspace-write',
      mine,
      'escalation_refused',
      toCaller('workspace-write'),
    ],
    [
      'writing, to a caller in a mode that nobody knows',
      openCeiling,
      'custom',
      { policy: plainPolicy('workspace-write') },
      'escalation_refused',
      toCaller('the mode "custom", which is not known here and counts as read-only'),
    ],
  ])('says why it refuses %s', (_, ceiling, told, access, code, because) => {
    expect(refuseAccess(ceiling, callerAccess(told), access)).toEqual({ code, because })
  })

  it.each<[Access, string]>([
    [{ policy: plainPolicy('read-only') }, 'read-only'],
    [withNetwork, 'workspace-write with network'],
    [full, 'danger-full-access (network included)'],
    [mine, 'the permission profile "mine", whose limits are not known here'],
  ])('names what was wanted: %j', (access, words) => {
    expect(accessWords(access)).toBe(words)
  })
})

describe('what a client tells of its caller', () => {
  it.each<[string | undefined, SandboxName | undefined]>([
    ['read-only', 'read-only'],
    ['workspace-write', 'workspace-write'],
    ['workspaceWrite', 'workspace-write'],
    ['WorkspaceWrite', 'workspace-write'],
    ['danger_full_access', 'danger-full-access'],
    ['dangerFullAccess', 'danger-full-access'],
    ['external-sandbox', 'read-only'],
    ['', 'read-only'],
    [undefined, undefined],
  ])('%s counts as %s', (told, sandbox) => {
    expect(callerAccess(told)?.sandbox).toBe(sandbox)
  })
})
