import { isDeepStrictEqual } from 'node:util'
import { BridgeError } from '../contract/errors.ts'
import type { Difference } from '../ledger/receipt.ts'
import type { Environment } from '../protocol/items.ts'
import { normaliseSandbox, samePolicy, type SandboxPolicy, type SandboxType } from '../protocol/sandbox.ts'
import type { EnvironmentRecord } from './recorded.ts'

/** What was asked for; a member that is absent was left to the App Server and is not compared. */
export interface ExpectedEnvironment {
  readonly cwd: string
  readonly approvalPolicy: Environment['approvalPolicy']
  readonly sandboxType?: SandboxType
  readonly policy?: SandboxPolicy
  readonly approvalsReviewer?: string
  readonly model?: string
  readonly reasoningEffort?: string
  readonly profile?: string
  readonly projectId?: string
  readonly runtimeWorkspaceRoots?: readonly string[]
}

/** Compares one field; nothing when it was not asked for. */
const field = (name: string, expected: unknown, actual: unknown): readonly Difference[] =>
  expected === undefined || isDeepStrictEqual(expected, actual ?? null)
    ? []
    : [{ field: name, expected, actual: actual ?? null }]

/** The members in which two policies differ, unknown members of either included: fails closed. */
const policyDifferences = (expected: object, actual: object): readonly Difference[] => {
  if (samePolicy(expected, actual)) return []
  const wanted = normaliseSandbox(expected)
  const got = normaliseSandbox(actual)
  const members = [...new Set([...Object.keys(wanted), ...Object.keys(got)])]
  return members
    .filter((member) => member !== 'type' && !isDeepStrictEqual(wanted[member], got[member]))
    .map((member) => ({
      field: `sandbox.${member}`,
      expected: wanted[member] ?? null,
      actual: got[member] ?? null,
    }))
}

/** What the App Server says is in force, compared with what was asked (policy: After thread/start). */
export const compareEnvironment = (
  expected: ExpectedEnvironment,
  actual: Environment,
): readonly Difference[] => {
  const type = expected.policy?.type ?? expected.sandboxType
  return [
    ...field('cwd', expected.cwd, actual.cwd),
    ...field('thread.cwd', expected.cwd, actual.thread.cwd),
    ...field('sandbox.type', type, normaliseSandbox(actual.sandbox).type),
    ...(expected.policy === undefined ? [] : policyDifferences(expected.policy, actual.sandbox)),
    ...field('approvalPolicy', expected.approvalPolicy, actual.approvalPolicy),
    ...field('approvalsReviewer', expected.approvalsReviewer, actual.approvalsReviewer),
    ...field('model', expected.model, actual.model),
    ...field('reasoningEffort', expected.reasoningEffort, actual.reasoningEffort),
    ...field('activePermissionProfile.id', expected.profile, actual.activePermissionProfile?.id),
    ...field('projectId', expected.projectId, actual.thread.projectId),
    ...field('runtimeWorkspaceRoots', expected.runtimeWorkspaceRoots, actual.runtimeWorkspaceRoots),
  ]
}

/** One field of a thread that did not come back as it was. */
export interface Drift {
  readonly field: string
  readonly recorded: unknown
  readonly resumed: unknown
}

const drift = (field: string, recorded: unknown, resumed: unknown): readonly Drift[] =>
  isDeepStrictEqual(recorded, resumed) ? [] : [{ field, recorded, resumed }]

/** Type and network, for a record that knows no more. */
const classOf = (sandbox: object): Readonly<Record<string, unknown>> => {
  const { type, networkAccess } = normaliseSandbox(sandbox)
  return { type, networkAccess: networkAccess ?? null }
}

const sandboxDrift = ({ sandbox, whole }: EnvironmentRecord, resumed: object): readonly Drift[] => {
  if (whole && samePolicy(sandbox, resumed)) return []
  const [before, after] = whole
    ? [normaliseSandbox(sandbox), normaliseSandbox(resumed)]
    : [classOf(sandbox), classOf(resumed)]
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return members.flatMap((member) =>
    drift(`sandbox.${member}`, before[member] ?? null, after[member] ?? null),
  )
}

/** What of a thread's environment changed since it was recorded (policy: Drift). */
export const driftOf = (recorded: EnvironmentRecord, resumed: Environment): readonly Drift[] => [
  ...sandboxDrift(recorded, resumed.sandbox),
  ...drift('cwd', recorded.cwd, resumed.cwd),
  ...drift('approvalPolicy', recorded.approvalPolicy, resumed.approvalPolicy),
  ...drift('approvalsReviewer', recorded.approvalsReviewer, resumed.approvalsReviewer ?? null),
  ...drift('model', recorded.model, resumed.model),
  ...drift('reasoningEffort', recorded.reasoningEffort, resumed.reasoningEffort ?? null),
  ...drift('activePermissionProfile.id', recorded.profile, resumed.activePermissionProfile?.id ?? null),
]

/**
 * Refuses an environment whose approvals would wait for a person (policy: Approvals).
 * @throws BridgeError unsupported_approval_policy
 */
export const checkApprovals = ({
  approvalPolicy,
  approvalsReviewer,
}: Pick<Environment, 'approvalPolicy' | 'approvalsReviewer'>): void => {
  if (approvalPolicy === 'never') return
  if (approvalPolicy === 'on-request' && approvalsReviewer === 'auto_review') return
  throw new BridgeError(
    'unsupported_approval_policy',
    `The thread's approval policy is ${JSON.stringify(approvalPolicy)} with reviewer ${JSON.stringify(approvalsReviewer ?? null)}: it would wait for a person.`,
  )
}
