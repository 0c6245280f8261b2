import { BridgeError } from '../contract/errors.ts'
import { given } from '../contract/given.ts'
import type { MutationContext } from '../contract/tool.ts'
import type { Difference, ReceiptPatch } from '../ledger/receipt.ts'
import { compareEnvironment, type ExpectedEnvironment } from '../policy/environment.ts'
import {
  requestAccess,
  settingsParams,
  startParams,
  type AllowedProfiles,
  type RequestedAccess,
  type WantedAccess,
} from '../policy/profile.ts'
import type { Environment } from '../protocol/items.ts'
import { deliverTurn } from './deliver.ts'
import { settingsOf } from './environment-settings.ts'
import { unsubscribe } from './recording.ts'

/** A thread to be made, in the bridge's own words whatever the family calls them. */
export interface NewThread {
  /** Real path of an existing directory. */
  readonly cwd: string
  readonly access: WantedAccess
  readonly approvalPolicy: string
  readonly approvalsReviewer?: string
  readonly model?: string
  readonly reasoningEffort?: string
  readonly projectId?: string
  readonly runtimeWorkspaceRoots?: readonly string[]
}

export interface StartedThread {
  readonly threadId: string
  readonly access: RequestedAccess
  readonly environment: Environment
  readonly differences: readonly Difference[]
}

const expectedOf = (wanted: NewThread, access: RequestedAccess): ExpectedEnvironment => ({
  cwd: wanted.cwd,
  approvalPolicy: wanted.approvalPolicy,
  ...given({
    policy: access.policy,
    profile: access.profile,
    approvalsReviewer: wanted.approvalsReviewer,
    model: wanted.model,
    reasoningEffort: wanted.reasoningEffort,
    projectId: wanted.projectId,
    runtimeWorkspaceRoots: wanted.runtimeWorkspaceRoots,
  }),
})

/**
 * Looks whether the App Server has the project of a thread: what makes something for the thread looks first.
 * @throws BridgeError unknown_project
 */
export const checkProject = async (
  ctx: MutationContext<'project/read'>,
  projectId: string | undefined,
): Promise<void> => {
  if (projectId !== undefined) await ctx.call('project/read', { projectId })
}

/**
 * Makes a thread (contract: create_thread, steps 3 and 4). The receipt learns what it is and how it differs.
 * @throws BridgeError unknown_project, permission_profile_unavailable: nothing was made
 */
export const startThread = async (
  ctx: MutationContext<'permissionProfile/list' | 'project/read' | 'thread/start'>,
  wanted: NewThread,
  allowedProfiles: AllowedProfiles,
): Promise<StartedThread> => {
  await checkProject(ctx, wanted.projectId)
  const access = requestAccess(wanted.access, await allowedProfiles(ctx, wanted.cwd))
  const { config, ...form } = startParams(access)
  const settings = { ...config, ...given({ model_reasoning_effort: wanted.reasoningEffort }) }
  const environment = await ctx.call(
    'thread/start',
    {
      cwd: wanted.cwd,
      approvalPolicy: wanted.approvalPolicy,
      ephemeral: false,
      ...form,
      ...(Object.keys(settings).length === 0 ? {} : { config: settings }),
      ...given({
        approvalsReviewer: wanted.approvalsReviewer,
        model: wanted.model,
        projectId: wanted.projectId,
        runtimeWorkspaceRoots: wanted.runtimeWorkspaceRoots && [...wanted.runtimeWorkspaceRoots],
      }),
    },
    {
      record: (answer) => {
        const differences = compareEnvironment(expectedOf(wanted, access), answer)
        return {
          threadId: answer.thread.id,
          creation: settingsOf(answer),
          requestedAs: access.requestedAs,
          verifiedEnvironment: { matches: differences.length === 0, differences },
        }
      },
    },
  )
  const differences = compareEnvironment(expectedOf(wanted, access), environment)
  return { threadId: environment.thread.id, access, environment, differences }
}

/** Nothing is sent to a thread that differs from what was asked for. @throws BridgeError environment_mismatch */
export const proveEnvironment = ({ threadId, differences }: StartedThread): void => {
  if (differences.length > 0)
    throw new BridgeError(
      'environment_mismatch',
      `The new thread ${threadId} differs from what was asked for in ${differences.map(({ field }) => field).join(', ')}; nothing further was sent.`,
      { details: { differences } },
    )
}

/** Why a thread may not come back as it was. */
const NOT_RESTART_SAFE =
  'A custom sandbox policy cannot be written as a permission profile: after a restart the App Server may bring the thread back with its configured default.'

/**
 * Makes an empty thread survive a stop of the server, with its access (receipts: Durable threads). Before name and prompt.
 * The receipt learns `durable`, `restartSafe` and, when it is not, the reason.
 */
export const makeDurable = async (
  ctx: MutationContext<'thread/section/move' | 'thread/settings/update'>,
  { threadId, access }: Pick<StartedThread, 'threadId' | 'access'>,
  { approvalPolicy, approvalsReviewer }: Pick<ExpectedEnvironment, 'approvalPolicy' | 'approvalsReviewer'>,
): Promise<void> => {
  await ctx.call('thread/section/move', { threadId, sectionId: null })
  const approval = { approvalPolicy, ...given({ approvalsReviewer }) }
  const record = (): ReceiptPatch => durability(access)
  await ctx.call('thread/settings/update', { threadId, ...settingsParams(access, approval) }, { record })
}

const durability = ({ requestedAs }: RequestedAccess): ReceiptPatch =>
  requestedAs === 'permissions'
    ? { durable: true, restartSafe: true }
    : { durable: true, restartSafe: false, restartSafeReason: NOT_RESTART_SAFE }

/** Every method that creating a thread may call. */
export const createMethods = [
  'project/read',
  'permissionProfile/list',
  'thread/start',
  'thread/section/move',
  'thread/settings/update',
  'thread/name/set',
  'turn/start',
  'thread/items/list',
  'thread/unsubscribe',
] as const

/** What a new thread gets once its environment is proven. */
export interface FirstWords {
  readonly title?: string
  readonly prompt?: string
}

/**
 * Makes a thread, proves its environment, makes it durable, and only then names it and sends the prompt (contract:
 * create_thread, steps 3 to 8).
 * @throws BridgeError unknown_project, permission_profile_unavailable: nothing was made; environment_mismatch: it was
 */
export const createThread = async (
  ctx: MutationContext<(typeof createMethods)[number]>,
  wanted: NewThread,
  { title, prompt }: FirstWords,
  allowedProfiles: AllowedProfiles,
): Promise<ReceiptPatch> => {
  const started = await startThread(ctx, wanted, allowedProfiles)
  proveEnvironment(started)
  const { threadId } = started
  await makeDurable(ctx, started, wanted)
  if (title !== undefined) await ctx.call('thread/name/set', { threadId, name: title })
  const delivered = prompt === undefined ? {} : await deliverTurn(ctx, threadId, prompt)
  await unsubscribe(ctx, threadId)
  return delivered
}
