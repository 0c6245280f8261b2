import type { InputFault, StepAccess } from '@codex-thread-bridge/core/contract'
import { isSandboxPolicy, plainPolicy, type SandboxPolicy } from '@codex-thread-bridge/core/protocol'
import {
  absoluteFault,
  fields,
  policyFault,
  SandboxInput,
  SandboxPolicyInput,
} from '@codex-thread-bridge/core/threads'
import { Type, type Static } from 'typebox'

const MANAGED = 'bridge-managed-retained'
const PATH_MAX = 4_096

const path = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: PATH_MAX,
    pattern: '\\S',
    description: `${description} (absolute and canonical; 1 to 4,096 characters)`,
  })

export const Input = Type.Object(
  {
    request_id: fields.requestId,
    source_repository: path('Root of an existing checkout that is not bare'),
    starting_revision: Type.String({
      pattern: '^([0-9a-f]{40}|[0-9a-f]{64})$',
      description: 'Full lowercase id of a commit that is already local: 40 or 64 hex digits',
    }),
    destination: path(
      'Where the worktree is made: absent, in an existing directory outside every repository',
    ),
    worktree_mode: Type.Enum([MANAGED], {
      type: 'string',
      description: 'The worktree is locked and kept until somebody removes it by hand',
    }),
    sandbox: SandboxInput,
    expected_sandbox_policy: SandboxPolicyInput,
    prompt: Type.Optional(fields.prompt),
    title: Type.Optional(fields.title),
    model: Type.Optional(fields.model),
    reasoning_effort: Type.Optional(fields.reasoningEffort),
    app_server_project_id: Type.Optional(fields.projectId),
  },
  { additionalProperties: false },
)
export type Input = Static<typeof Input>

/** What the schema cannot say. */
export const inputFault = ({
  source_repository,
  destination,
  expected_sandbox_policy: policy,
  sandbox,
}: Input): InputFault | undefined =>
  absoluteFault('source_repository', source_repository, 'invalid_source_repository') ??
  absoluteFault('destination', destination, 'invalid_destination') ??
  policyFault('expected_sandbox_policy', policy, sandbox)

/** The policy of an input without a fault. */
export const policyOf = ({ expected_sandbox_policy: policy, sandbox }: Input): SandboxPolicy =>
  isSandboxPolicy(policy) ? policy : plainPolicy(sandbox)

/** What the Git preparation and the task may touch, for the operator's ceiling. */
export const accessOf = (input: Input): StepAccess => ({
  cwd: input.destination,
  roots: [input.source_repository],
  policy: policyOf(input),
})
