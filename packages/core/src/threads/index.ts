export {
  accessFault,
  accessRootFault,
  policyFault,
  rootFault,
  SandboxInput,
  SandboxPolicyInput,
  wantedAccess,
} from './access-input.ts'
export {
  checkProject,
  createMethods,
  createThread,
  makeDurable,
  proveEnvironment,
  startThread,
  type NewThread,
  type StartedThread,
} from './create.ts'
export { allRows } from './all-rows.ts'
export { absoluteFault, resolveCwd } from './cwd.ts'
export { deliverQueued, deliverTurn, type Delivered } from './deliver.ts'
export { fields } from './fields.ts'
export { checkFork, forkMethods, forkThread, reconcileFork, type Fork } from './fork.ts'
export { opaqueCursor, type OpaqueCursor } from './opaque-cursor.ts'
export { reconcileCreation } from './reconcile-creation.ts'
export { reconcileMessage } from './reconcile-message.ts'
export { unsubscribe } from './recording.ts'
export { ifBusy, onDrift, sendMessage, sendMethods } from './send.ts'
export {
  clipText,
  clipTexts,
  cutText,
  CutText,
  truncation,
  truncationOf,
  type Clipped,
  type Truncation,
} from './clip.ts'
export {
  contentBytes,
  fewerRows,
  fitTexts,
  halveTexts,
  jsonBytes,
  pageThatFits,
  type Fitted,
} from './result-budget.ts'
export { fitTurns, omittedNote, type FittedTurns, type ShownTurn } from './turn-budget.ts'
export { listTurns, ofKnownThread, threadOf, withLastMessage } from './thread-reading.ts'
export { type Follower, type ThreadState } from './thread-watch.ts'
export { createTurnWatcher, type TurnToAwait, type TurnWatcher } from './turn-watcher.ts'
export { type WaitOutcome, type WatchContext } from './waiter.ts'
