import { defineMutation, given } from '@codex-thread-bridge/core/contract'
import type { OperationsPort } from '@codex-thread-bridge/core/host'
import type { Receipt } from '@codex-thread-bridge/core/ledger'
import { createMethods, createThread as create, reconcileCreation } from '@codex-thread-bridge/core/threads'
import { Type } from 'typebox'
import { answerOf, mutationOutput } from './answer.ts'
import { Creation, creationOf } from './client-thread.ts'
import { Target, targetFault } from './create-target.ts'
import { examples } from './create-thread.examples.ts'
import { defaultAccess } from './default-access.ts'
import { inputs, shortTitle } from './input.ts'
import { checkModel } from './models.ts'
import { placeOf, type PlaceOptions } from './place.ts'
import { notStarted } from './reconcile-state.ts'

/** A creation that takes longer goes on, and is answered by its clientThreadId. */
const ANSWER_WITHIN_MS = 5_000

export interface CreateOptions extends PlaceOptions {
  readonly operations: OperationsPort
  readonly defaultPermissions: string
}

/** A thread is told by its id once it is there for sure, by that of its creation as long as that goes on. */
const answer = (receipt: Receipt) => {
  const { threadId, ...rest } = answerOf(receipt)
  if (receipt.execution !== 'running') return { ...rest, ...given({ threadId }) }
  const { clientThreadId, phase } = creationOf(receipt)
  return { ...rest, clientThreadId, phase }
}

/** create_thread (contract: app-threads). */
export const createThread = (options: CreateOptions) =>
  defineMutation({
    name: 'create_thread',
    title: 'Create a Codex thread',
    description:
      'Starts another Codex agent in a thread of its own and sends it the prompt: in a project of list_projects (target {"type": "project", "projectId", "environment"?}) or in a new directory (target {"type": "projectless"}). In a Git repository it works in a worktree of its own unless environment is {"type": "local"}; startingState says what the worktree starts from. The answer has threadId, or, while a worktree takes longer than 5 s, clientThreadId: pass either to wait_threads and read_thread. It does not wait for the agent’s result. The thread may do what the operator’s default permissions say, never more than the calling agent. Calling again makes another thread: after an uncertain answer (status "outcome_unknown") call get_operation with requestId and reconcile: true.',
    input: Type.Object(
      {
        prompt: inputs.prompt,
        target: Target,
        title: Type.Optional(inputs.title),
        model: Type.Optional(inputs.model),
        thinking: Type.Optional(inputs.thinking),
      },
      { additionalProperties: false },
    ),
    output: mutationOutput({
      clientThreadId: Type.Optional(Type.String()),
      phase: Type.Optional(Creation.properties.phase),
    }),
    uses: ['model/list', 'project/list', ...createMethods],
    examples,
    answerWithinMs: ANSWER_WITHIN_MS,
    check: ({ target }) => targetFault(target),
    opening: ({ target, title }) => ({
      phase: 'queued',
      target,
      ...given({ title: title && shortTitle(title) }),
    }),

    async run(ctx, { target, prompt, title, model, thinking }) {
      await checkModel(ctx, model, thinking)
      const name = title && shortTitle(title)
      const access = defaultAccess(options.operations, ctx.caller, options.defaultPermissions)
      const place = await placeOf(ctx, { target, title: name, access }, options)
      const wanted = {
        ...place,
        access,
        approvalPolicy: 'never',
        ...given({ model, reasoningEffort: thinking }),
      }
      await ctx.receipt.checkpoint({ phase: 'conversation-starting' })
      const words = { prompt, ...given({ title: name }) }
      return { ...(await create(ctx, wanted, words, options.allowedProfiles)), phase: 'ready' }
    },

    reconcileHere: async (receipt) => notStarted(receipt, 'thread/start'),
    reconcile: (ctx, receipt) =>
      reconcileCreation(ctx, receipt, { title: receipt.title !== undefined, prompt: true }),
    answer,
  })
