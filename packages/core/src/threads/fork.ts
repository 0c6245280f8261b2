import { BridgeError } from '../contract/errors.ts'
import { given } from '../contract/given.ts'
import type { MutationContext, ReconcileContext, Verdict } from '../contract/tool.ts'
import type { Receipt, ReceiptPatch } from '../ledger/receipt.ts'
import { compareEnvironment } from '../policy/environment.ts'
import { requestAccess, startParams, type AllowedProfiles, type WantedAccess } from '../policy/profile.ts'
import { newestRecord, recordOfReceipts, type EnvironmentRecord } from '../policy/recorded.ts'
import { rolloutRecords } from '../policy/rollout.ts'
import type { Thread } from '../protocol/items.ts'
import { isSandboxPolicy, plainPolicy } from '../protocol/sandbox.ts'
import { makeDurable } from './create.ts'
import { settingsOf } from './environment-settings.ts'
import { findCreated, lastSent, type Looked } from './find.ts'
import { unsubscribe } from './recording.ts'
import { listTurns } from './thread-reading.ts'

/** Every method that forking may call. */
export const forkMethods = [
  'thread/turns/list',
  'permissionProfile/list',
  'thread/fork',
  'thread/section/move',
  'thread/settings/update',
  'thread/unsubscribe',
] as const
type Forking = MutationContext<(typeof forkMethods)[number]>

export interface Fork {
  readonly source: Thread
  /** Where the fork works; where its source does unless given. */
  readonly cwd?: string
  /** What it may do when nothing is known of its source's own access. */
  readonly otherwise: WantedAccess
  readonly allowedProfiles: AllowedProfiles
  /** What the receipt learns of the fork, where its own thread is another one. */
  readonly record?: (fork: ForkRecord) => ReceiptPatch
}

/** The fork, in the members that the receipt of a new thread has. */
export interface ForkRecord extends ReceiptPatch {
  readonly threadId: string
}

const accessOf = (recorded: EnvironmentRecord | undefined, otherwise: WantedAccess): WantedAccess => {
  if (recorded?.profile !== undefined && recorded.profile !== null) return { profile: recorded.profile }
  return recorded !== undefined && recorded.whole && isSandboxPolicy(recorded.sandbox)
    ? { policy: recorded.sandbox }
    : otherwise
}

/** What the source was last known to have, and in which form a fork asks for it. @throws BridgeError permission_profile_unavailable */
const asLastKnown = async (ctx: Forking, { source, otherwise, allowedProfiles }: Fork, cwd: string) => {
  const recorded = newestRecord([
    ...(await rolloutRecords(source.path)),
    recordOfReceipts(ctx.receiptsOf(source.id)),
  ])
  const access = requestAccess(accessOf(recorded, otherwise), await allowedProfiles(ctx, cwd))
  return { recorded, access }
}

/**
 * Looks whether the App Server, the ceiling and the caller allow what a fork would ask for, where its source works: what
 * makes something for the fork looks first.
 * @throws BridgeError permission_profile_unavailable, ceiling_exceeded, escalation_refused
 */
export const checkFork = async (ctx: Forking, fork: Fork): Promise<void> => {
  const { cwd } = fork.source
  const { access } = await asLastKnown(ctx, fork, cwd)
  // A profile of which no limits are known could allow anything.
  await ctx.judge('The fork', { cwd, policy: access.policy ?? plainPolicy('danger-full-access') })
}

/** The running turn, which a fork leaves out: its history ends before it. */
const runningTurn = async (ctx: Forking, threadId: string): Promise<string | undefined> => {
  const { data } = await listTurns(ctx, { threadId, limit: 1, itemsView: 'notLoaded' })
  return data[0]?.status === 'inProgress' ? data[0].id : undefined
}

/**
 * A new thread with the completed history of another, and with its access as it was last known: named, compared with
 * what the App Server then says, and made durable. Returns its id.
 * @throws BridgeError permission_profile_unavailable: nothing was made; environment_mismatch: it was
 */
export const forkThread = async (ctx: Forking, fork: Fork): Promise<string> => {
  const { source, record = (made) => made } = fork
  const cwd = fork.cwd ?? source.cwd
  // Those of the source would come along.
  const roots = fork.cwd === undefined ? {} : { runtimeWorkspaceRoots: [fork.cwd] }
  const { recorded, access } = await asLastKnown(ctx, fork, cwd)
  const approvalPolicy = recorded?.approvalPolicy ?? 'never'
  const approvals = {
    approvalPolicy,
    ...given({ approvalsReviewer: recorded?.approvalsReviewer ?? undefined }),
  }
  const { config, ...form } = startParams(access)
  const expected = {
    cwd,
    ...roots,
    ...approvals,
    ...given({ policy: access.policy, profile: access.profile }),
  }
  const beforeTurnId = await runningTurn(ctx, source.id)
  const environment = await ctx.call(
    'thread/fork',
    {
      threadId: source.id,
      excludeTurns: true,
      cwd,
      ...roots,
      ...approvals,
      ...form,
      ...(Object.keys(config).length === 0 ? {} : { config }),
      ...given({ beforeTurnId }),
    },
    {
      record: (answer) => {
        const differences = compareEnvironment(expected, answer)
        return record({
          threadId: answer.thread.id,
          creation: settingsOf(answer),
          requestedAs: access.requestedAs,
          verifiedEnvironment: { matches: differences.length === 0, differences },
        })
      },
    },
  )
  const threadId = environment.thread.id
  const differences = compareEnvironment(expected, environment)
  if (differences.length > 0)
    throw new BridgeError(
      'environment_mismatch',
      `The fork ${threadId} differs from thread ${source.id} in ${differences.map(({ field }) => field).join(', ')}; it is kept.`,
      { details: { differences } },
    )
  await makeDurable(ctx, { threadId, access }, approvals)
  await unsubscribe(ctx, threadId)
  return threadId
}

/** Whether a lost fork was made. Read-only. */
export const reconcileFork = async (ctx: ReconcileContext, receipt: Receipt): Promise<Verdict> => {
  const looked: Looked = { calls: 0, pages: 0 }
  const sent = lastSent(receipt, ['thread/fork'])
  if (sent === undefined)
    return { verdict: 'not_found', looked: { ...looked, note: 'thread/fork was never sent' } }
  const { deliveryMarker } = receipt
  if (receipt.threadId === undefined && deliveryMarker === undefined)
    return { verdict: 'unknowable', looked: { ...looked, note: 'delivery markers were off' } }
  const threadId =
    receipt.threadId ?? (await findCreated(ctx, deliveryMarker ?? '', sent.at * 1000, looked, 'thread/fork'))
  return threadId === undefined
    ? { verdict: 'not_found', looked: { ...looked } }
    : { verdict: 'created', looked: { ...looked }, patch: { threadId } }
}
