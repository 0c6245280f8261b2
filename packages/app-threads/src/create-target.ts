import type { InputFault } from '@codex-thread-bridge/core/contract'
import { Type, type Static } from 'typebox'
import { variantFault } from './variant.ts'

const closed = { additionalProperties: false } as const

const StartingState = Type.Object(
  {
    type: Type.Enum(['working-tree', 'branch'], {
      type: 'string',
      description:
        'working-tree: the checkout’s HEAD with its uncommitted changes (staged, unstaged, untracked); branch: a branch, by branchName',
    }),
    branchName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 250,
        description: 'With branch: its name (1 to 250 characters)',
      }),
    ),
    onMissing: Type.Optional(
      Type.Enum(['error', 'create-branch'], {
        type: 'string',
        description:
          'With branch, when there is none of that name: error (default), or create it from the default branch',
      }),
    ),
  },
  { ...closed, description: 'What a worktree starts from; left out: the commit of the default branch' },
)

const TargetEnvironment = Type.Object(
  {
    type: Type.Enum(['local', 'worktree'], {
      type: 'string',
      description: 'local: the project’s own directory; worktree: a Git worktree of its own',
    }),
    startingState: Type.Optional(StartingState),
  },
  {
    ...closed,
    description:
      'With project: where the thread works; left out: a worktree if the project is a Git repository, else local',
  },
)

/** Where a new thread belongs. One object with a `type`: hosts reject unions, `targetFault` says what goes together. */
export const Target = Type.Object(
  {
    type: Type.Enum(['project', 'projectless', 'chatgptWorkCloud'], {
      type: 'string',
      description:
        'project: in a project of list_projects; projectless: in a new directory of its own; chatgptWorkCloud: not supported here',
    }),
    projectId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'With project: its projectId of list_projects (1 to 128 characters)',
      }),
    ),
    environment: Type.Optional(TargetEnvironment),
    directoryName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'With projectless: the wanted name of the directory (1 to 200 characters)',
      }),
    ),
  },
  { ...closed, description: 'Where the thread works' },
)
export type Target = Static<typeof Target>
export type TargetEnvironment = Static<typeof TargetEnvironment>
export type StartingState = Static<typeof StartingState>

const targets = {
  project: { needs: ['projectId'], allows: ['environment'] },
  projectless: { allows: ['directoryName'] },
  chatgptWorkCloud: { allows: ['projectId'] },
} as const
const environments = { local: {}, worktree: { allows: ['startingState'] } } as const
const startingStates = {
  'working-tree': {},
  branch: { needs: ['branchName'], allows: ['onMissing'] },
} as const

/** The first thing wrong with a target that its schema cannot say. */
export const targetFault = (target: Target): InputFault | undefined => {
  if (target.type === 'chatgptWorkCloud')
    return {
      field: 'target.type',
      code: 'unsupported_target',
      message:
        'Works in the ChatGPT cloud can only be made by Codex Desktop itself, not through the App Server.',
    }
  const { environment } = target
  const startingState = environment?.startingState
  return (
    variantFault(target, 'target', targets) ??
    (environment && variantFault(environment, 'target.environment', environments)) ??
    (startingState && variantFault(startingState, 'target.environment.startingState', startingStates))
  )
}
