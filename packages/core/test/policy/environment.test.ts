import { describe, expect, it } from 'vitest'
import {
  checkApprovals,
  compareEnvironment,
  driftOf,
  type ExpectedEnvironment,
} from '../../src/policy/environment.ts'
import { recordOf } from '../../src/policy/recorded.ts'
import { plainPolicy } from '../../src/protocol/sandbox.ts'

const actual = {
  thread: { id: 't', cwd: '/w', status: { type: 'idle' }, projectId: 'p' },
  cwd: '/w',
  model: 'm',
  approvalPolicy: 'never',
  approvalsReviewer: 'user',
  sandbox: { type: 'readOnly', networkAccess: false },
  activePermissionProfile: { id: ':read-only' },
  reasoningEffort: 'low',
  runtimeWorkspaceRoots: ['/w'],
}
const expected: ExpectedEnvironment = {
  cwd: '/w',
  approvalPolicy: 'never',
  approvalsReviewer: 'user',
  policy: plainPolicy('read-only'),
  profile: ':read-only',
  model: 'm',
  reasoningEffort: 'low',
  projectId: 'p',
  runtimeWorkspaceRoots: ['/w'],
}
const fieldsOf = (differences: readonly { readonly field: string }[]): string[] =>
  differences.map(({ field }) => field)

describe('an environment after thread/start', () => {
  it('has no difference when every compared field is as asked', () => {
    expect(compareEnvironment(expected, actual)).toEqual([])
  })

  it.each([
    ['cwd', { cwd: '/other' }],
    ['thread.cwd', { thread: { ...actual.thread, cwd: '/other' } }],
    ['approvalPolicy', { approvalPolicy: 'on-request' }],
    ['approvalsReviewer', { approvalsReviewer: 'auto_review' }],
    ['sandbox.networkAccess', { sandbox: { type: 'readOnly', networkAccess: true } }],
    ['sandbox.gpuAccess', { sandbox: { type: 'readOnly', networkAccess: false, gpuAccess: true } }],
    ['activePermissionProfile.id', { activePermissionProfile: null }],
    ['model', { model: 'other' }],
    ['reasoningEffort', { reasoningEffort: null }],
    ['projectId', { thread: { ...actual.thread, projectId: null } }],
    ['runtimeWorkspaceRoots', { runtimeWorkspaceRoots: ['/w', '/x'] }],
  ])('names %s when only that differs', (field, change) => {
    expect(fieldsOf(compareEnvironment(expected, { ...actual, ...change }))).toEqual([field])
  })

  it('names the type when the sandbox is another one', () => {
    const differences = compareEnvironment(expected, { ...actual, sandbox: { type: 'dangerFullAccess' } })
    expect(differences[0]).toEqual({
      field: 'sandbox.type',
      expected: 'readOnly',
      actual: 'dangerFullAccess',
    })
  })

  it('does not compare what was left to the App Server', () => {
    const free = { cwd: '/w', approvalPolicy: 'never', policy: plainPolicy('read-only') }
    expect(compareEnvironment(free, { ...actual, model: 'x', reasoningEffort: 'high' })).toEqual([])
  })
})

describe('an environment after thread/resume', () => {
  const recorded = recordOf('receipt', 1, actual)

  it('is unchanged when only the thread status moved', () => {
    expect(
      driftOf(recorded, { ...actual, thread: { ...actual.thread, status: { type: 'active' } } }),
    ).toEqual([])
  })

  it.each([
    ['cwd', { cwd: '/other' }],
    ['approvalPolicy', { approvalPolicy: 'on-request' }],
    ['approvalsReviewer', { approvalsReviewer: 'auto_review' }],
    ['model', { model: 'other' }],
    ['reasoningEffort', { reasoningEffort: null }],
    ['activePermissionProfile.id', { activePermissionProfile: null }],
    ['sandbox.networkAccess', { sandbox: { type: 'readOnly', networkAccess: true } }],
    ['sandbox.gpuAccess', { sandbox: { type: 'readOnly', networkAccess: false, gpuAccess: true } }],
  ])('names %s when that changed', (field, change) => {
    expect(fieldsOf(driftOf(recorded, { ...actual, ...change }))).toEqual([field])
  })

  it('compares type and network alone with a record that knows no more', () => {
    const partial = { ...recorded, whole: false, sandbox: { type: 'workspaceWrite', networkAccess: false } }
    const roots = { type: 'workspaceWrite', writableRoots: ['/x'], networkAccess: false }
    const withNetwork = { ...roots, networkAccess: true }
    expect(driftOf(partial, { ...actual, sandbox: roots })).toEqual([])
    expect(driftOf(partial, { ...actual, sandbox: withNetwork })).toEqual([
      { field: 'sandbox.networkAccess', recorded: false, resumed: true },
    ])
  })
})

describe('approvals', () => {
  it.each([
    ['never', 'user', true],
    ['never', null, true],
    ['on-request', 'auto_review', true],
    ['on-request', 'user', false],
    ['untrusted', 'auto_review', false],
    [{ granular: {} }, 'auto_review', false],
  ])('with policy %j and reviewer %j are accepted: %j', (approvalPolicy, approvalsReviewer, accepted) => {
    const check = (): void => checkApprovals({ ...actual, approvalPolicy, approvalsReviewer })
    if (accepted) expect(check).not.toThrow()
    else expect(check).toThrow(expect.objectContaining({ code: 'unsupported_approval_policy' }))
  })
})
