import { BridgeError, defineMutation, given, type InputFault } from '@codex-thread-bridge/core/contract'
import { receiptOutput } from '@codex-thread-bridge/core/ledger'
import type { AllowedProfiles } from '@codex-thread-bridge/core/policy'
import {
  accessFault,
  accessRootFault,
  createMethods,
  createThread as create,
  fields,
  reconcileCreation,
  resolveCwd,
  SandboxInput,
  SandboxPolicyInput,
  wantedAccess,
  type NewThread,
} from '@codex-thread-bridge/core/threads'
import { Type, type Static } from 'typebox'
import { examples } from './create-thread.examples.ts'

const Input = Type.Object(
  {
    request_id: fields.requestId,
    cwd: fields.cwd,
    prompt: Type.Optional(fields.prompt),
    title: Type.Optional(fields.title),
    sandbox: Type.Optional(SandboxInput),
    sandbox_policy: Type.Optional(SandboxPolicyInput),
    permissions: Type.Optional(fields.profile),
    approval_policy: Type.Optional(
      Type.Enum(['never', 'on-request'], {
        type: 'string',
        description: 'never (default), or on-request together with approvals_reviewer auto_review',
      }),
    ),
    approvals_reviewer: Type.Optional(
      Type.Enum(['user', 'auto_review'], { type: 'string', description: 'Who reviews approval requests' }),
    ),
    model: Type.Optional(fields.model),
    reasoning_effort: Type.Optional(fields.reasoningEffort),
    app_server_project_id: Type.Optional(fields.projectId),
  },
  { additionalProperties: false },
)
type Input = Static<typeof Input>

const Output = receiptOutput({
  promptRequested: Type.Optional(Type.Boolean()),
  requestedAs: Type.Optional(Type.Enum(['permissions', 'sandbox'], { type: 'string' })),
  durable: Type.Optional(Type.Boolean()),
  restartSafe: Type.Optional(Type.Boolean()),
  restartSafeReason: Type.Optional(Type.String()),
  desktopProjectAssociation: Type.Optional(
    Type.Object({ status: Type.String(), appServerProjectId: Type.Optional(Type.String()) }),
  ),
})

const check = (input: Input): InputFault | undefined => {
  if (input.approval_policy === 'on-request' && input.approvals_reviewer !== 'auto_review')
    return {
      field: 'approval_policy',
      message:
        '`approval_policy` on-request needs approvals_reviewer "auto_review": nobody answers a person’s approvals here.',
    }
  return accessFault(input)
}

/** The thread to make. @throws BridgeError invalid_cwd, invalid_arguments: what only the file system shows */
const newThread = async (input: Input): Promise<NewThread> => {
  const fault = accessRootFault(input)
  if (fault !== undefined) throw new BridgeError('invalid_arguments', fault.message, { field: fault.field })
  return {
    cwd: await resolveCwd(input.cwd),
    access: wantedAccess(input),
    approvalPolicy: input.approval_policy ?? 'never',
    ...given({
      approvalsReviewer: input.approvals_reviewer,
      model: input.model,
      reasoningEffort: input.reasoning_effort,
      projectId: input.app_server_project_id,
    }),
  }
}

/** create_thread (contract: bridge-tools, threads). */
export const createThread = (allowedProfiles: AllowedProfiles) =>
  defineMutation({
    name: 'create_thread',
    title: 'Create a Codex thread',
    description:
      'Creates a durable Codex thread in an existing directory, proves that its sandbox and approvals are what was asked for, and only then sets the title and sends the prompt. Read-only unless you ask for more. Use one request_id per intended thread and repeat the same one after an uncertain answer: it never creates twice. The answer is a receipt: accepted means dispatched, not completed; use wait_thread for the result. Status outcome_unknown: call get_operation with reconcile true, do not create again. No worktree and no goal is created. A thread without a prompt is in no list until its first turn.',
    input: Input,
    output: Output,
    uses: createMethods,
    examples,
    check,
    opening: (input) => ({
      ...given({ title: input.title }),
      promptRequested: input.prompt !== undefined,
      desktopProjectAssociation: {
        status: 'unverified',
        ...given({ appServerProjectId: input.app_server_project_id }),
      },
    }),

    async run(ctx, input) {
      const { title, prompt } = input
      return create(ctx, await newThread(input), given({ title, prompt }), allowedProfiles)
    },

    reconcile: (ctx, receipt) =>
      reconcileCreation(ctx, receipt, {
        title: receipt.title !== undefined,
        prompt: receipt.promptRequested === true,
      }),
  })
