export { makeDurable, startVerifiedThread, type NewThread, type StartedThread } from './create.ts'
export { resolveCwd } from './cwd.ts'
export { deliverTurn, type Delivered } from './deliver.ts'
export { fields } from './fields.ts'
export { reconcileCreation } from './reconcile-creation.ts'
export { reconcileMessage } from './reconcile-message.ts'
export { unsubscribe } from './recording.ts'
export { ifBusy, onDrift, sendMessage, sendMethods } from './send.ts'
export { clipText, clipTexts, truncation, truncationOf, type Clipped, type Truncation } from './clip.ts'
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
export { listTurns, ofKnownThread, threadOf } from './thread-reading.ts'
export { createTurnWatcher, type TurnToAwait, type TurnWatcher } from './turn-watcher.ts'
export { type WaitOutcome, type WatchContext } from './waiter.ts'
