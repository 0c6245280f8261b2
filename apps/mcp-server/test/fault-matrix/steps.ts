import type { Method } from '@codex-thread-bridge/core/protocol'

/** One step of one mutation. */
export interface StepRow {
  readonly tool: 'create_thread' | 'send_message_to_thread' | 'create_worktree_thread'
  /** How the step comes to happen, where the mutation has several ways. */
  readonly way: 'create' | 'launch' | 'send' | 'steer' | 'queue' | 'restore'
  readonly method: Method
  /** Which of the mutation's calls of this method it is. */
  readonly nth: number
}

const row = (tool: StepRow['tool'], way: StepRow['way'], method: Method, nth = 1): StepRow => ({
  tool,
  way,
  method,
  nth,
})
const send = 'send_message_to_thread'
const launch = 'create_worktree_thread'

/** Every step of every mutation, in the order in which they happen. */
export const steps = {
  createStart: row('create_thread', 'create', 'thread/start'),
  createMove: row('create_thread', 'create', 'thread/section/move'),
  createSettings: row('create_thread', 'create', 'thread/settings/update'),
  createName: row('create_thread', 'create', 'thread/name/set'),
  createTurn: row('create_thread', 'create', 'turn/start'),
  createUnsubscribe: row('create_thread', 'create', 'thread/unsubscribe'),
  launchStart: row(launch, 'launch', 'thread/start'),
  launchMove: row(launch, 'launch', 'thread/section/move'),
  launchSettings: row(launch, 'launch', 'thread/settings/update'),
  launchName: row(launch, 'launch', 'thread/name/set'),
  launchTurn: row(launch, 'launch', 'turn/start'),
  launchUnsubscribe: row(launch, 'launch', 'thread/unsubscribe'),
  sendResume: row(send, 'send', 'thread/resume'),
  sendTurn: row(send, 'send', 'turn/start'),
  sendSteer: row(send, 'steer', 'turn/steer'),
  sendQueue: row(send, 'queue', 'thread/queue/add'),
  sendUnsubscribe: row(send, 'send', 'thread/unsubscribe'),
  restoreTurn: row(send, 'restore', 'turn/start'),
  restoreReadBack: row(send, 'restore', 'thread/resume', 2),
} as const satisfies Record<string, StepRow>

export type StepName = keyof typeof steps
export const stepNames = Object.keys(steps) as StepName[]
