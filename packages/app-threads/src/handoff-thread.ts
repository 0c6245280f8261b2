import { BridgeError, defineMutation, given, type Caller } from '@codex-thread-bridge/core/contract'
import { judgeSource } from '@codex-thread-bridge/core/git'
import { canonicalThreadId, threadKey, type Thread } from '@codex-thread-bridge/core/protocol'
import {
  checkFork,
  ofKnownThread,
  reconcileFork,
  reconcileMessage,
  threadOf,
} from '@codex-thread-bridge/core/threads'
import { Type } from 'typebox'
import { answerOf, mutationOutput } from './answer.ts'
import { isArchived } from './archived.ts'
import { refusePending } from './client-thread.ts'
import type { CreateOptions } from './create-thread.ts'
import { defaultAccess } from './default-access.ts'
import { earlierHandoff, pastHandoff, refuseSecond, type Earlier } from './handoff/earlier.ts'
import { changesToCarry } from './git/carry.ts'
import { followUp } from './handoff/follow-up.ts'
import { forkOf, HANDOFF, hasMoved, journalOf } from './handoff/journal.ts'
import { Handoff, handoffMethods, type HandoffContext } from './handoff/perform.ts'
import { refuseLockedIndex } from './handoff/locked-index.ts'
import { planHandoff, type Plan } from './handoff/plan.ts'
import { revisionOf } from './handoff/status.ts'
import { examples } from './handoff-thread.examples.ts'
import { HOST, inputs } from './input.ts'

/** Long enough for what is refused at once to be told. */
const ANSWER_WITHIN_MS = 1_000

/** @throws BridgeError self_target, thread_busy, thread_archived */
const checkSource = async (
  ctx: HandoffContext,
  source: Thread,
  earlier: Earlier | undefined,
): Promise<void> => {
  const { data } = await ctx
    .call('thread/queue/list', { threadId: source.id, limit: 1 })
    .catch(() => ({ data: [] }))
  if (source.status.type === 'active' || data.length > 0)
    throw new BridgeError(
      'thread_busy',
      `Thread ${source.id} has a running turn or queued messages; nothing was done.`,
    )
  if (isArchived(source) && earlier === undefined) throw archived(ctx, source.id)
}

const archived = (ctx: HandoffContext, threadId: string): BridgeError => {
  const past = pastHandoff(ctx, threadId)
  if (past === undefined)
    return new BridgeError('thread_archived', `Thread ${threadId} is archived; nothing was done.`)
  return new BridgeError(
    'thread_archived',
    `Thread ${threadId} is archived: it was handed off already (operationId ${past.operationId}) and went on as thread ${past.threadId}; nothing was done.`,
    { details: past },
  )
}

/** Looks at both checkouts before anything is made. @throws BridgeError git_failed, uncarried_changes */
const checkCheckouts = async (
  { git }: CreateOptions,
  { from, to }: Plan,
  earlier: Earlier | undefined,
): Promise<void> => {
  for (const root of to === undefined ? [from] : [from, to]) await refuseLockedIndex(git, root)
  if (earlier === undefined || !hasMoved(earlier.journal.stage)) await changesToCarry(git, from)
}

const refuseSelf = (threadId: string, caller: Caller): void => {
  if (caller.threadId !== undefined && threadKey(caller.threadId) === threadKey(threadId))
    throw new BridgeError('self_target', 'A thread cannot hand itself off.', { field: 'threadId' })
}

/** handoff_thread (contract: app-threads). */
export const handoffThread = (options: CreateOptions) =>
  defineMutation({
    name: HANDOFF,
    title: 'Hand a Codex thread off between checkout and worktree',
    description:
      'Moves an idle thread with all its uncommitted work from the project’s checkout into a Git worktree of its own, or from such a worktree back into the checkout. It goes on as a new thread with the same history there (threadId of get_handoff_status), the old one is archived, and the source is left clean once both sides were compared. The answer comes at once with operationId: call get_handoff_status with it. A thread with a running turn, the calling thread, and a checkout with changes or commits of its own are refused; what fails is undone. A handoff that was cut off is finished by calling again for the same thread. followUpPrompt is sent to the new thread, at most once.',
    input: Type.Object(
      {
        threadId: inputs.threadId,
        destinationHostId: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 128,
            description: 'local, the only host for now (1 to 128 characters)',
          }),
        ),
        followUpPrompt: Type.Optional(inputs.prompt),
      },
      { additionalProperties: false },
    ),
    output: mutationOutput({ operationId: Type.String(), revision: Type.Integer() }),
    uses: handoffMethods,
    examples,
    answerWithinMs: ANSWER_WITHIN_MS,
    check: ({ destinationHostId = HOST }) =>
      destinationHostId === HOST
        ? undefined
        : {
            field: 'destinationHostId',
            code: 'unsupported_target',
            message: `There is no host ${JSON.stringify(destinationHostId)}: this bridge serves "${HOST}" alone.`,
            hint: `Leave destinationHostId out, or pass "${HOST}".`,
          },
    opening: ({ threadId, followUpPrompt }) => ({
      threadId: canonicalThreadId(threadId),
      followUpRequested: followUpPrompt !== undefined,
    }),

    async run(ctx, { threadId, followUpPrompt }) {
      await refusePending(options.operations, threadId)
      refuseSelf(threadId, ctx.caller)
      refuseSecond(ctx, threadId)
      await ctx.claimThread(threadId)
      const source = await ofKnownThread(threadId, threadOf(ctx, threadId), 'threadId')
      const earlier = await earlierHandoff(ctx, options.operations, threadId)
      await checkSource(ctx, source, earlier)
      const plan = await planHandoff(options.git, source.cwd, options.worktreesDir)
      const otherwise = defaultAccess(options.operations, ctx.caller, options.defaultPermissions)
      await ctx.judge('The handoff', { cwd: plan.from, roots: [plan.to ?? options.worktreesDir] })
      await judgeSource(ctx, plan.source)
      await checkCheckouts(options, plan, earlier)
      if (earlier?.fork === undefined)
        await checkFork(ctx, { source, otherwise, allowedProfiles: options.allowedProfiles })
      const { threadId: moved, warning } = await new Handoff(
        ctx,
        {
          ...options,
          source,
          isArchived: isArchived(source),
          otherwise,
          ...given({ earlier }),
        },
        plan,
      ).perform()
      const sent =
        followUpPrompt === undefined || earlier?.followedUp === true
          ? {}
          : await followUp(ctx, moved, followUpPrompt)
      const handoff = journalOf(ctx.receipt.current())
      return {
        ...given({ warning }),
        ...sent,
        ...(warning === undefined ? { handoff: { ...handoff, stage: 'done' } } : {}),
      }
    },

    async reconcile(ctx, receipt) {
      const { threadId: _source, ...rest } = receipt
      const stage = journalOf(receipt)?.stage
      const fork = forkOf(receipt)
      if (stage === 'cleaned' || stage === 'done')
        return receipt.followUpRequested === true
          ? reconcileMessage(ctx, receipt, fork ?? '')
          : { verdict: 'created', looked: { note: 'every move was made' } }
      if (fork !== undefined)
        return {
          verdict: 'created_incomplete',
          looked: { note: 'the moves after the fork were not all made' },
        }
      const { verdict, looked, patch } = await reconcileFork(ctx, rest)
      return verdict === 'created'
        ? {
            verdict: 'created_incomplete',
            looked,
            patch: { fork: patch, handoff: { ...journalOf(receipt), stage: 'forked' } },
          }
        : { verdict, looked }
    },

    answer: (receipt) => ({
      ...answerOf(receipt),
      operationId: receipt.requestId,
      revision: revisionOf(receipt),
    }),
  })
