import { BridgeError, defineMutation, given, type MutationContext } from '@codex-thread-bridge/core/contract'
import type { Git } from '@codex-thread-bridge/core/git'
import { receiptOutput, type Receipt } from '@codex-thread-bridge/core/ledger'
import type { AllowedProfiles } from '@codex-thread-bridge/core/policy'
import type { Method } from '@codex-thread-bridge/core/protocol'
import {
  checkProject,
  deliverTurn,
  makeDurable,
  proveEnvironment,
  rootFault,
  startThread,
  unsubscribe,
  type Delivered,
  type NewThread,
} from '@codex-thread-bridge/core/threads'
import { Type } from 'typebox'
import { makeCheckout, planCheckout, proveCheckout, type PlannedCheckout } from './checkout.ts'
import { examples } from './create-worktree-thread.examples.ts'
import { enter, phases } from './phase.ts'
import { reconcileCheckout, reconcileLaunch } from './reconcile-launch.ts'
import { nothingToRecover, recoveryOf } from './recovery.ts'
import { accessOf, Input, inputFault, policyOf } from './worktree-input.ts'
import { WorktreeRecord, worktreeOf } from './worktree-record.ts'

const Text = Type.String()

const Output = receiptOutput({
  phase: Type.Optional(Type.Enum([...phases], { type: 'string' })),
  recoveryRequired: Type.Optional(Type.Boolean()),
  recovery: Type.Optional(Text),
  requestedCheckout: Type.Optional(Text),
  worktree: Type.Optional(WorktreeRecord),
  requestedAs: Type.Optional(Type.Enum(['permissions', 'sandbox'], { type: 'string' })),
  durable: Type.Optional(Type.Boolean()),
  restartSafe: Type.Optional(Type.Boolean()),
  restartSafeReason: Type.Optional(Text),
  permissionReceipt: Type.Optional(Type.Object({})),
  initialPrompt: Type.Optional(
    Type.Object({
      state: Type.Enum(['not_requested', 'not_sent', 'outcome_unknown', 'accepted', 'recorded'], {
        type: 'string',
      }),
    }),
  ),
  checkoutBeforeDispatch: Type.Optional(Type.Object({})),
  desktopProjectAssociation: Type.Optional(
    Type.Object({
      status: Text,
      sourceRepository: Type.Optional(Text),
      checkout: Type.Optional(Text),
      appServerProjectId: Type.Optional(Text),
    }),
  ),
})

const newThread = (input: Input): NewThread => ({
  cwd: input.destination,
  access: { policy: policyOf(input) },
  approvalPolicy: 'never',
  runtimeWorkspaceRoots: [input.destination],
  ...given({
    model: input.model,
    reasoningEffort: input.reasoning_effort,
    projectId: input.app_server_project_id,
  }),
})

/** Starts the thread in the worktree and proves its environment; the receipt learns both. */
const launch = async (
  ctx: MutationContext<Method>,
  input: Input,
  allowedProfiles: AllowedProfiles,
): Promise<string> => {
  const wanted = newThread(input)
  await enter(ctx, 'creating_thread')
  const started = await startThread(ctx, wanted, allowedProfiles)
  const { threadId, environment } = started
  await enter(ctx, 'checking_environment', {
    ...recoveryOf(input, { state: 'created', threadId }),
    permissionReceipt: {
      approvalPolicy: environment.approvalPolicy,
      sandbox: environment.sandbox,
      activePermissionProfile: environment.activePermissionProfile ?? null,
      runtimeWorkspaceRoots: environment.runtimeWorkspaceRoots ?? null,
    },
  })
  proveEnvironment(started)
  await enter(ctx, 'materializing_thread')
  await makeDurable(ctx, started, wanted)
  if (input.title === undefined) return threadId
  await enter(ctx, 'naming_thread')
  await ctx.call(
    'thread/name/set',
    { threadId, name: input.title },
    { record: () => ({ phase: 'thread_named' }) },
  )
  return threadId
}

/** Whether the journal proves that the prompt did not leave, or was refused. */
const promptNotSent = ({ steps }: Receipt): boolean => {
  const state = steps.findLast(({ name }) => name === 'turn/start')?.state
  return state === undefined || state === 'not_sent' || state === 'rejected'
}

/** Sends the prompt only into a worktree that still is what was checked. @throws BridgeError checkout_changed */
const dispatch = async (
  ctx: MutationContext<Method>,
  git: Git,
  planned: PlannedCheckout,
  input: Input,
  { threadId, prompt }: { readonly threadId: string; readonly prompt: string },
): Promise<Delivered> => {
  await enter(ctx, 'checking_before_dispatch')
  const checkout = await proveCheckout(ctx, git, planned, input)
  try {
    await enter(ctx, 'dispatching_initial_prompt', {
      checkoutBeforeDispatch: { ...checkout },
      initialPrompt: { state: 'outcome_unknown' },
    })
    return await deliverTurn(ctx, threadId, prompt)
  } catch (error) {
    // What cannot be saved now is saved with how it ended.
    if (promptNotSent(ctx.receipt.current()))
      await ctx.receipt.checkpoint({ initialPrompt: { state: 'not_sent' } }).catch(() => undefined)
    throw error
  }
}

/** create_worktree_thread (contract: bridge-tools, worktrees). */
export const createWorktreeThread = (git: Git, allowedProfiles: AllowedProfiles) =>
  defineMutation({
    name: 'create_worktree_thread',
    title: 'Create a Codex thread in a new Git worktree',
    description:
      'Makes a locked, detached Git worktree of a local commit at a destination that does not exist yet, proves that it is clean, starts a durable Codex thread in it, proves its sandbox, looks at the worktree once more, and only then sends the prompt. No hook, filter, helper or other program of the repository or of the Git configuration runs; nothing is fetched; no uncommitted change, branch, stash or submodule is carried along, and LFS files stay pointers. The worktree is kept: nothing here archives, prunes, unlocks or removes it. Use one request_id per intended launch and repeat the same one after an uncertain answer. The answer is a receipt, with `recovery` while something is left to do by hand: accepted means dispatched, not completed; use wait_thread for the result.',
    input: Input,
    output: Output,
    uses: [
      'project/read',
      'permissionProfile/list',
      'thread/start',
      'thread/section/move',
      'thread/settings/update',
      'thread/name/set',
      'turn/start',
      'thread/items/list',
      'thread/unsubscribe',
    ],
    examples,
    check: inputFault,
    opening: (input) => ({
      ...given({ title: input.title }),
      phase: 'validating',
      recoveryRequired: false,
      requestedCheckout: input.destination,
      worktree: worktreeOf(input, { state: 'planned' }),
      initialPrompt: { state: input.prompt === undefined ? 'not_requested' : 'not_sent' },
      desktopProjectAssociation: {
        status: 'unverified',
        sourceRepository: input.source_repository,
        checkout: input.destination,
        ...given({ appServerProjectId: input.app_server_project_id }),
      },
    }),

    async run(ctx, input) {
      await ctx.judge('The worktree', accessOf(input))
      const fault = rootFault('expected_sandbox_policy', policyOf(input))
      if (fault !== undefined)
        throw new BridgeError('invalid_arguments', fault.message, { field: fault.field })
      const planned = await planCheckout(ctx, git, input)
      await checkProject(ctx, input.app_server_project_id)
      await makeCheckout(ctx, git, planned, input)
      const threadId = await launch(ctx, input, allowedProfiles)
      const done = { phase: 'complete', ...nothingToRecover }
      if (input.prompt === undefined) {
        await unsubscribe(ctx, threadId)
        return done
      }
      const delivered = await dispatch(ctx, git, planned, input, { threadId, prompt: input.prompt })
      const state = delivered.delivery.state === 'recorded' ? 'recorded' : 'accepted'
      // The prompt is there: a receipt that cannot be written now is written with how it ended.
      await enter(ctx, 'initial_prompt_accepted', { ...delivered, initialPrompt: { state } }).catch(
        () => undefined,
      )
      await unsubscribe(ctx, threadId)
      return done
    },

    reconcileHere: (receipt) => reconcileCheckout(git, receipt),
    reconcile: (ctx, receipt) => reconcileLaunch(ctx, git, receipt),
  })
