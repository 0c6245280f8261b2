import { Type, type Static } from 'typebox'

/** `T` or `null` or absent: how the App Server writes "nothing here" differs between versions. */
const Nullable = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

/** A thread's run state. `activeFlags` says when it needs a person. */
export const ThreadStatus = Type.Object({
  type: Type.String(),
  activeFlags: Type.Optional(Type.Array(Type.String())),
})
export type ThreadStatus = Static<typeof ThreadStatus>

/** A named part of the server's list of threads; the built-in one is called Pinned. */
export const ThreadSection = Type.Object({ id: Type.String(), name: Type.String() })
export type ThreadSection = Static<typeof ThreadSection>

/** The thread object, as far as we look at it; every other field passes through. */
export const Thread = Type.Object({
  id: Type.String(),
  cwd: Type.String(),
  status: ThreadStatus,
  path: Nullable(Type.String()),
  name: Nullable(Type.String()),
  threadSource: Nullable(Type.String()),
  projectId: Nullable(Type.String()),
  createdAt: Type.Optional(Type.Number()),
  updatedAt: Type.Optional(Type.Number()),
  preview: Type.Optional(Type.String()),
  section: Nullable(ThreadSection),
})
export type Thread = Static<typeof Thread>

/** An item of a turn. Its other fields depend on `type`; a userMessage carries the sender's `clientId`. */
export const Item = Type.Object({
  type: Type.String(),
  id: Type.String(),
  clientId: Nullable(Type.String()),
})
export type Item = Static<typeof Item>

/** A row of `thread/items/list`. */
export const ItemEntry = Type.Object({ item: Item, turnId: Type.String() })
export type ItemEntry = Static<typeof ItemEntry>

export const TurnError = Type.Object({ message: Type.String() })

/** A turn. `completedAt: null` with `interrupted` is not always the end (see threads/turn-end.ts). */
export const Turn = Type.Object({
  id: Type.String(),
  status: Type.String(),
  items: Type.Array(Item),
  itemsView: Type.Optional(Type.String()),
  error: Nullable(TurnError),
  startedAt: Nullable(Type.Number()),
  completedAt: Nullable(Type.Number()),
})
export type Turn = Static<typeof Turn>

/** A project record of the App Server. */
export const Project = Type.Object({
  id: Type.String(),
  name: Type.Optional(Type.String()),
  roots: Type.Optional(Type.Array(Type.Object({ path: Type.String() }))),
})
export type Project = Static<typeof Project>

/** A model of the App Server's catalog and the efforts that it takes. */
export const Model = Type.Object({
  id: Type.String(),
  model: Type.String(),
  supportedReasoningEfforts: Type.Array(Type.Object({ reasoningEffort: Type.String() })),
})
export type Model = Static<typeof Model>

/** A message that waits for its turn. */
export const QueuedSubmission = Type.Object({ id: Type.String(), clientUserMessageId: Type.String() })

/** The text input of a turn, sent exactly. */
export const TextInput = Type.Object({ type: Type.Enum(['text'], { type: 'string' }), text: Type.String() })

type Row = Parameters<typeof Type.Array>[0]

/** A page of a list that only goes on. */
export const page = <T extends Row>(row: T) =>
  Type.Object({ data: Type.Array(row), nextCursor: Nullable(Type.String()) })

/** A page of a list that can be turned round. */
export const turnablePage = <T extends Row>(row: T) =>
  Type.Object({
    data: Type.Array(row),
    nextCursor: Nullable(Type.String()),
    backwardsCursor: Nullable(Type.String()),
  })

/** Approval policy: a name, or an object of granular rules that we pass on and compare. */
export const ApprovalPolicy = Type.Union([Type.String(), Type.Object({})])

/** What `thread/start` and `thread/resume` say is in force. */
export const Environment = Type.Object({
  thread: Thread,
  cwd: Type.String(),
  model: Type.String(),
  approvalPolicy: ApprovalPolicy,
  approvalsReviewer: Nullable(Type.String()),
  sandbox: Type.Object({ type: Type.String() }),
  activePermissionProfile: Nullable(Type.Object({ id: Type.String() })),
  reasoningEffort: Nullable(Type.String()),
  runtimeWorkspaceRoots: Type.Optional(Type.Array(Type.String())),
})
export type Environment = Static<typeof Environment>
