import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Receipt } from '../ledger/receipt.ts'
import { Environment } from '../protocol/items.ts'
import {
  isSandboxPolicy,
  normaliseSandbox,
  sandboxNames,
  sandboxTypes,
  type NormalisedSandbox,
} from '../protocol/sandbox.ts'

/** What was once in force for a thread, by one witness. */
export const EnvironmentRecord = Type.Object({
  source: Type.Enum(['receipt', 'turn_context', 'settings'], { type: 'string' }),
  /** Milliseconds since the epoch. */
  at: Type.Number(),
  /** In the App Server's spelling (normaliseSandbox). */
  sandbox: Type.Unsafe<NormalisedSandbox>(Type.Object({ type: Type.String() })),
  /** False: `sandbox` has its type and network alone. */
  whole: Type.Boolean(),
  cwd: Type.String(),
  approvalPolicy: Type.Union([Type.String(), Type.Object({})]),
  approvalsReviewer: Type.Union([Type.String(), Type.Null()]),
  model: Type.String(),
  reasoningEffort: Type.Union([Type.String(), Type.Null()]),
  profile: Type.Union([Type.String(), Type.Null()]),
})
export type EnvironmentRecord = Type.Static<typeof EnvironmentRecord>

const environment = Compile(Environment)
const record = Compile(EnvironmentRecord)

/** An answer of the App Server, as a record. */
export const recordOf = (
  source: EnvironmentRecord['source'],
  at: number,
  answer: Environment,
): EnvironmentRecord => ({
  source,
  at,
  sandbox: normaliseSandbox(answer.sandbox),
  whole: true,
  cwd: answer.cwd,
  approvalPolicy: answer.approvalPolicy,
  approvalsReviewer: answer.approvalsReviewer ?? null,
  model: answer.model,
  reasoningEffort: answer.reasoningEffort ?? null,
  profile: answer.activePermissionProfile?.id ?? null,
})

const TOLD_BY: readonly string[] = ['thread/start', 'thread/fork', 'thread/resume']

/** When the environment of a receipt was told: the step whose answer it is. */
const toldAt = (receipt: Receipt): number =>
  (receipt.steps.findLast(({ name }) => TOLD_BY.includes(name))?.at ?? receipt.startedAt) * 1000

const LEAVE_NO_TURN: readonly string[] = ['thread/resume', 'thread/unsubscribe']

const onlyResumed = ({ steps }: Receipt): boolean =>
  steps.every(({ name, state }) => LEAVE_NO_TURN.includes(name) || state === 'not_sent')

/**
 * What a receipt witnesses: the environment that was compared and agreed, or, after a drift to which nothing was sent,
 * the one that was expected. From 0.163 on the refused resume itself writes the drifted settings into the rollout: this later
 * witness keeps them from being taken for a change that somebody wanted.
 */
const witnessOf = (receipt: Receipt): EnvironmentRecord | undefined => {
  if (receipt.verifiedEnvironment?.matches !== true)
    return onlyResumed(receipt) && record.Check(receipt.recorded)
      ? { ...receipt.recorded, source: 'receipt', at: receipt.updatedAt * 1000 }
      : undefined
  const answer: unknown = receipt.effective ?? receipt.resumed ?? receipt.creation
  return environment.Check(answer) ? recordOf('receipt', toldAt(receipt), answer) : undefined
}

/** The newest witness among receipts, which come newest first. */
export const recordOfReceipts = (receipts: Iterable<Receipt>): EnvironmentRecord | undefined => {
  for (const receipt of receipts) {
    const witness = witnessOf(receipt)
    if (witness !== undefined) return witness
  }
  return undefined
}

const rank = ({ sandbox }: EnvironmentRecord): number =>
  sandboxNames.findIndex((name) => sandboxTypes[name] === sandbox.type)

const hasNetwork = ({ sandbox }: EnvironmentRecord): boolean =>
  sandbox.type === 'dangerFullAccess' || sandbox.networkAccess === true

const isWider = (one: EnvironmentRecord, other: EnvironmentRecord): boolean =>
  rank(one) > rank(other) || (hasNetwork(one) && !hasNetwork(other))

/**
 * The newest record by its own timestamp. Applied settings that widen the access without naming a profile are passed
 * over: that is also what a drifted resume of any client writes (measured from 0.163 on), and a change that a person
 * made shows in the turn that runs under it.
 */
export const newestRecord = (
  records: readonly (EnvironmentRecord | undefined)[],
): EnvironmentRecord | undefined =>
  records
    .filter((entry) => entry !== undefined)
    .sort((a, b) => a.at - b.at)
    .reduce<EnvironmentRecord | undefined>((newest, entry) => {
      const doubtful =
        newest !== undefined &&
        entry.source === 'settings' &&
        entry.profile === null &&
        isWider(entry, newest)
      return doubtful ? newest : entry
    }, undefined)

/** `turn/start` members that bring a recorded environment back; undefined when it is not known whole. */
export const restoring = (wanted: EnvironmentRecord) => {
  const { sandbox, profile, approvalPolicy, approvalsReviewer, model, reasoningEffort } = wanted
  if (profile === null && !(wanted.whole && isSandboxPolicy(sandbox))) return undefined
  return {
    ...(profile === null ? { sandboxPolicy: sandbox } : { permissions: profile }),
    approvalPolicy,
    ...(approvalsReviewer === null ? {} : { approvalsReviewer }),
    model,
    ...(reasoningEffort === null ? {} : { effort: reasoningEffort }),
  }
}
