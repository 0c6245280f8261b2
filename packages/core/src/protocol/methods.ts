import { Type, type Static, type TSchema } from 'typebox'
import {
  ApprovalPolicy,
  Environment,
  ItemEntry,
  Model,
  page,
  Project,
  QueuedSubmission,
  TextInput,
  Thread,
  ThreadSection,
  Turn,
  turnablePage,
} from './items.ts'

/** `read` leaves no trace on the server; `mutate` may. */
export type Effect = 'read' | 'mutate'

/**
 * What a mutation does to an agent, for the host's gate: `starts` makes a thread and `loads` brings one back, with its
 * environment as the answer; `feeds` gives it something to do; `sets` changes what it may do; `none` is nothing of these.
 */
export type AgentEffect = 'starts' | 'loads' | 'feeds' | 'sets' | 'none'

/**
 * One App Server method.
 * `marker` names the parameter that carries our delivery marker; `settles: false` marks a mutation whose lost answer
 * leaves no message and no thread behind, so that it never makes an outcome unknown (design: receipts).
 */
export interface MethodSpec<
  E extends Effect = Effect,
  P extends TSchema = TSchema,
  R extends TSchema = TSchema,
> {
  readonly effect: E
  /** A read has none. */
  readonly agent?: AgentEffect
  readonly params: P
  readonly result: R
  readonly timeoutMs: number
  readonly since: string
  readonly marker?: string
  readonly markerRequired?: boolean
  readonly settles?: false
}

type Extra = Partial<Pick<MethodSpec, 'timeoutMs' | 'marker' | 'markerRequired' | 'settles'>>

const read = <const P extends TSchema, const R extends TSchema>(
  params: P,
  result: R,
  extra: Extra = {},
): MethodSpec<'read', P, R> => ({
  timeoutMs: 15_000,
  since: '0.153.4',
  ...extra,
  effect: 'read',
  params,
  result,
})

const mutate = <const P extends TSchema, const R extends TSchema>(
  agent: AgentEffect,
  params: P,
  result: R,
  extra: Extra = {},
): MethodSpec<'mutate', P, R> => ({
  timeoutMs: 30_000,
  since: '0.153.4',
  ...extra,
  effect: 'mutate',
  agent,
  params,
  result,
})

const Cursor = Type.Optional(Type.String())
const Limit = Type.Optional(Type.Integer())
const OnThread = Type.Object({ threadId: Type.String() })
const Sort = Type.Optional(Type.Enum(['asc', 'desc'], { type: 'string' }))
const ItemsView = Type.Optional(Type.Enum(['notLoaded', 'summary', 'full'], { type: 'string' }))
const SandboxObject = Type.Object({ type: Type.String() })
const Config = Type.Record(Type.String(), Type.Unknown())
const Nothing = Type.Object({})
const Input = Type.Array(TextInput)

/** Every App Server method the bridge may call: types, guard, manifest, time-outs and markers come from here. */
export const methods = {
  'thread/start': mutate(
    'starts',
    Type.Object({
      cwd: Type.String(),
      approvalPolicy: Type.String(),
      ephemeral: Type.Boolean(),
      permissions: Type.Optional(Type.String()),
      sandbox: Type.Optional(Type.String()),
      config: Type.Optional(Config),
      approvalsReviewer: Type.Optional(Type.String()),
      model: Type.Optional(Type.String()),
      projectId: Type.Optional(Type.String()),
      runtimeWorkspaceRoots: Type.Optional(Type.Array(Type.String())),
      threadSource: Type.Optional(Type.String()),
    }),
    Environment,
    { marker: 'threadSource', timeoutMs: 60_000 },
  ),
  'thread/fork': mutate(
    'starts',
    Type.Object({
      threadId: Type.String(),
      excludeTurns: Type.Boolean(),
      beforeTurnId: Type.Optional(Type.String()),
      cwd: Type.Optional(Type.String()),
      approvalPolicy: Type.Optional(ApprovalPolicy),
      permissions: Type.Optional(Type.String()),
      sandbox: Type.Optional(Type.String()),
      config: Type.Optional(Config),
      approvalsReviewer: Type.Optional(Type.String()),
      model: Type.Optional(Type.String()),
      runtimeWorkspaceRoots: Type.Optional(Type.Array(Type.String())),
      threadSource: Type.Optional(Type.String()),
    }),
    Environment,
    { marker: 'threadSource', timeoutMs: 60_000 },
  ),
  'thread/resume': mutate(
    'loads',
    Type.Object({ threadId: Type.String(), excludeTurns: Type.Boolean() }),
    Environment,
    { settles: false, timeoutMs: 60_000 },
  ),
  'thread/section/move': mutate(
    'none',
    Type.Object({ threadId: Type.String(), sectionId: Type.Union([Type.String(), Type.Null()]) }),
    Nothing,
  ),
  'thread/settings/update': mutate(
    'sets',
    Type.Object({
      threadId: Type.String(),
      permissions: Type.Optional(Type.String()),
      sandboxPolicy: Type.Optional(SandboxObject),
      approvalPolicy: Type.Optional(ApprovalPolicy),
      approvalsReviewer: Type.Optional(Type.String()),
    }),
    Nothing,
  ),
  'thread/name/set': mutate('none', Type.Object({ threadId: Type.String(), name: Type.String() }), Nothing),
  'thread/archive': mutate('none', OnThread, Nothing),
  'thread/unarchive': mutate('none', OnThread, Type.Object({ thread: Thread })),
  'turn/start': mutate(
    'feeds',
    Type.Object({
      threadId: Type.String(),
      input: Input,
      clientUserMessageId: Type.Optional(Type.String()),
      permissions: Type.Optional(Type.String()),
      sandboxPolicy: Type.Optional(SandboxObject),
      approvalPolicy: Type.Optional(ApprovalPolicy),
      approvalsReviewer: Type.Optional(Type.String()),
      model: Type.Optional(Type.String()),
      effort: Type.Optional(Type.String()),
    }),
    Type.Object({ turn: Turn }),
    { marker: 'clientUserMessageId' },
  ),
  'turn/steer': mutate(
    'feeds',
    Type.Object({
      threadId: Type.String(),
      expectedTurnId: Type.String(),
      input: Input,
      clientUserMessageId: Type.Optional(Type.String()),
    }),
    Type.Object({ turnId: Type.String() }),
    { marker: 'clientUserMessageId' },
  ),
  'thread/queue/add': mutate(
    'feeds',
    Type.Object({ threadId: Type.String(), input: Input, clientUserMessageId: Type.Optional(Type.String()) }),
    Type.Object({ queuedSubmission: QueuedSubmission }),
    { marker: 'clientUserMessageId', markerRequired: true },
  ),
  'thread/unsubscribe': mutate('none', OnThread, Type.Object({ status: Type.String() }), {
    settles: false,
    timeoutMs: 5_000,
  }),

  'thread/read': read(OnThread, Type.Object({ thread: Thread })),
  'thread/list': read(
    Type.Object({
      cwd: Type.Optional(Type.String()),
      limit: Limit,
      cursor: Cursor,
      archived: Type.Optional(Type.Boolean()),
      useStateDbOnly: Type.Optional(Type.Boolean()),
      sortKey: Type.Optional(Type.String()),
      sectionId: Type.Optional(Type.String()),
      searchTerm: Type.Optional(Type.String()),
      sourceKinds: Type.Optional(Type.Array(Type.String())),
      modelProviders: Type.Optional(Type.Array(Type.String())),
      ancestorThreadId: Type.Optional(Type.String()),
    }),
    turnablePage(Thread),
    { timeoutMs: 30_000 },
  ),
  'thread/loaded/list': read(Type.Object({ limit: Limit, cursor: Cursor }), page(Type.String())),
  'thread/turns/list': read(
    Type.Object({
      threadId: Type.String(),
      limit: Limit,
      cursor: Cursor,
      itemsView: ItemsView,
      sortDirection: Sort,
    }),
    turnablePage(Turn),
    { timeoutMs: 30_000 },
  ),
  'thread/items/list': read(
    Type.Object({
      threadId: Type.String(),
      turnId: Type.Optional(Type.String()),
      limit: Limit,
      cursor: Cursor,
      sortDirection: Sort,
    }),
    turnablePage(ItemEntry),
    { timeoutMs: 30_000 },
  ),
  'thread/queue/list': read(
    Type.Object({ threadId: Type.String(), limit: Limit, cursor: Cursor }),
    page(QueuedSubmission),
  ),
  'thread/goal/get': read(
    OnThread,
    Type.Object({
      goal: Type.Optional(Type.Union([Type.Object({ objective: Type.String() }), Type.Null()])),
    }),
  ),
  'permissionProfile/list': read(
    Type.Object({ cwd: Type.Optional(Type.String()), limit: Limit, cursor: Cursor }),
    page(Type.Object({ id: Type.String(), allowed: Type.Boolean() })),
  ),
  'project/read': read(Type.Object({ projectId: Type.String() }), Type.Object({ project: Project })),
  'project/list': read(Type.Object({ limit: Limit, cursor: Cursor }), page(Project)),
  'model/list': read(
    Type.Object({ limit: Limit, cursor: Cursor, includeHidden: Type.Optional(Type.Boolean()) }),
    page(Model),
  ),
  'threadSection/list': read(Type.Object({ limit: Limit, cursor: Cursor }), page(ThreadSection)),
} as const satisfies Record<string, MethodSpec>

type Methods = typeof methods
export type Method = keyof Methods
export type ReadMethod = { [M in Method]: Methods[M]['effect'] extends 'read' ? M : never }[Method]
export type Params<M extends Method> = Static<Methods[M]['params']>
export type Result<M extends Method> = Static<Methods[M]['result']>

/** The names of all methods, in the table's order. */
export const methodNames: readonly Method[] = Object.keys(methods).filter(
  (name): name is Method => name in methods,
)

/** The table's row of a method, with its literal types forgotten. */
export const methodSpec = (method: Method): MethodSpec => methods[method]
