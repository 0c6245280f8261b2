import { defineMutation, given, type MutationContext } from '@codex-thread-bridge/core/contract'
import { judgeSource } from '@codex-thread-bridge/core/git'
import {
  checkFork,
  forkMethods,
  forkThread as fork,
  ofKnownThread,
  reconcileFork,
  threadOf,
  type Fork,
} from '@codex-thread-bridge/core/threads'
import { realpath } from 'node:fs/promises'
import { Type } from 'typebox'
import { answerOf, mutationOutput } from './answer.ts'
import { threadOrCaller } from './calling-thread.ts'
import { refusePending } from './client-thread.ts'
import type { CreateOptions } from './create-thread.ts'
import { defaultAccess } from './default-access.ts'
import { examples } from './fork-thread.examples.ts'
import { checkoutAround, directoryIn, startingPoint } from './git/starting-point.ts'
import { makeWorktree, worktreePath } from './git/worktree.ts'
import { notStarted } from './reconcile-state.ts'
import { inputs } from './input.ts'
import { fieldsOf } from './item-fields.ts'

const SAME_DIRECTORY = 'same-directory'
const WORKTREE = 'worktree'

/** Where a fork works when it is not where its source does: a worktree with the uncommitted changes that are there now. */
const ownWorktree = async (
  ctx: MutationContext<(typeof forkMethods)[number]>,
  { git, worktreesDir }: Pick<CreateOptions, 'git' | 'worktreesDir'>,
  wanted: Fork,
) => {
  await ctx.judge('The new worktree', { cwd: wanted.source.cwd, roots: [worktreesDir] })
  const cwd = await realpath(wanted.source.cwd)
  const source = await checkoutAround(git, cwd, {
    field: 'environment.type',
    hint: 'Use environment {"type": "same-directory"}.',
  })
  await judgeSource(ctx, source)
  const point = await startingPoint(git, source, cwd, { type: 'working-tree' })
  await checkFork(ctx, wanted)
  const root = await worktreePath(worktreesDir, point, ctx.receipt.requestId)
  await makeWorktree(ctx, git, point, root)
  return directoryIn(root, point.directory)
}

/** fork_thread (contract: app-threads). */
export const forkThread = (options: CreateOptions) =>
  defineMutation({
    name: 'fork_thread',
    title: 'Fork a Codex thread',
    description:
      'Makes a new thread with the completed history of another one (without threadId: of the calling thread) and with its access; a turn that still runs is left out. The source is not changed, the fork has no title and no turn of its own yet: send_message_to_thread gives it something to do. The fork works in the same directory as its source, or, with environment {"type": "worktree"}, in a Git worktree of its own, with the uncommitted changes of its source’s checkout.',
    input: Type.Object(
      {
        threadId: Type.Optional(inputs.threadId),
        environment: Type.Optional(
          Type.Object(
            {
              type: Type.Enum([SAME_DIRECTORY, WORKTREE], {
                type: 'string',
                description:
                  'same-directory (default): where the source works; worktree: a Git worktree of its own',
              }),
            },
            { additionalProperties: false, description: 'Where the fork works' },
          ),
        ),
      },
      { additionalProperties: false },
    ),
    output: mutationOutput({
      sourceThreadId: Type.Optional(Type.String()),
      environment: Type.Object({ type: Type.String() }),
    }),
    uses: ['thread/read', ...forkMethods],
    examples,

    opening: ({ environment }) => ({ environment: { type: environment?.type ?? SAME_DIRECTORY } }),

    async run(ctx, { threadId: named, environment }) {
      const threadId = threadOrCaller(named, ctx.caller)
      await refusePending(options.operations, threadId)
      const source = await ofKnownThread(threadId, threadOf(ctx, threadId), 'threadId')
      await ctx.receipt.checkpoint({ sourceThreadId: source.id })
      const otherwise = defaultAccess(options.operations, ctx.caller, options.defaultPermissions)
      const wanted = { source, otherwise, allowedProfiles: options.allowedProfiles }
      const cwd = environment?.type === WORKTREE ? await ownWorktree(ctx, options, wanted) : undefined
      return { threadId: await fork(ctx, { ...wanted, ...given({ cwd }) }) }
    },

    reconcileHere: async (receipt) => notStarted(receipt, 'thread/fork'),
    reconcile: reconcileFork,
    answer: (receipt) => ({
      ...answerOf(receipt),
      ...(typeof receipt.sourceThreadId === 'string' ? { sourceThreadId: receipt.sourceThreadId } : {}),
      environment: { type: fieldsOf(receipt.environment).type === WORKTREE ? WORKTREE : SAME_DIRECTORY },
    }),
  })
