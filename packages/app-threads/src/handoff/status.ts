import type { Receipt, Step } from '@codex-thread-bridge/core/ledger'
import { Type, type Static } from 'typebox'
import { directions, forkOf, hasMoved, journalOf, type Journal } from './journal.ts'

const OptionalText = Type.Union([Type.String(), Type.Null()])
const Time = Type.Union([Type.Number(), Type.Null()])

/** How far a handoff is. Times are in seconds since the epoch. */
export const HandoffStatus = Type.Object({
  operationId: Type.String(),
  revision: Type.Integer(),
  status: Type.Enum(['running', 'success', 'warning', 'error'], { type: 'string' }),
  threadId: OptionalText,
  sourceThreadId: OptionalText,
  direction: Type.Union([Type.Enum([...directions], { type: 'string' }), Type.Null()]),
  workIn: Type.Union([Type.Enum(['source', 'destination'], { type: 'string' }), Type.Null()]),
  source: OptionalText,
  destination: OptionalText,
  steps: Type.Array(
    Type.Object({
      id: Type.String(),
      label: Type.String(),
      status: Type.String(),
      message: OptionalText,
      updatedAt: Type.Number(),
    }),
  ),
  message: OptionalText,
  createdAt: Type.Number(),
  updatedAt: Type.Number(),
  completedAt: Time,
})
export type HandoffStatus = Static<typeof HandoffStatus>

const labels: Readonly<Record<string, string>> = {
  add_worktree: 'Make the worktree',
  check_out: 'Write its files',
  fast_forward: 'Bring the checkout forward',
  carry_changes: 'Carry the uncommitted changes over',
  'thread/fork': 'Continue the thread there',
  'thread/name/set': 'Give it its title',
  'thread/archive': 'Archive the old thread',
  clean_source: 'Take the changes out of the source',
  undo_destination: 'Undo the destination',
  'turn/start': 'Send the follow-up',
}

const states: Readonly<Record<Step['state'], string>> = {
  intended: 'running',
  answered: 'completed',
  rejected: 'failed',
  not_sent: 'failed',
  unknown: 'unknown',
}

const isRunning = ({ execution }: Receipt): boolean => execution === 'running'

/** Rises with every step that begins or ends, and with the end of the whole. */
export const revisionOf = (receipt: Receipt): number =>
  receipt.steps.length +
  receipt.steps.filter(({ state }) => state !== 'intended').length +
  (isRunning(receipt) ? 0 : 1)

const outcomeOf = (receipt: Receipt, journal: Journal | undefined): HandoffStatus['status'] => {
  if (isRunning(receipt)) return 'running'
  const moved = journal !== undefined && hasMoved(journal.stage)
  if (receipt.status === 'accepted') return receipt.warning === undefined ? 'success' : 'warning'
  return moved ? 'warning' : 'error'
}

const AGAIN = 'Call handoff_thread for the same thread again to finish it.'

const messageOf = (receipt: Receipt, journal: Journal | undefined): string | null => {
  if (isRunning(receipt)) return null
  if (receipt.status === 'accepted')
    return typeof receipt.warning === 'string'
      ? receipt.warning
      : `The thread works in ${journal?.to ?? ''} now.`
  const why = receipt.error?.message ?? 'It was cut off.'
  if (journal === undefined) return why
  if (hasMoved(journal.stage))
    return `${why} The thread and the whole work are in ${journal.to}; something is left in ${journal.from}. ${AGAIN}`
  return journal.stage === 'undone'
    ? `${why} It was undone: the thread and the whole work are in ${journal.from}.`
    : `${why} The thread and the whole work are still in ${journal.from}. ${AGAIN}`
}

const shownStep = ({ name, state, at }: Step, place: number, running: boolean) => ({
  id: `${place + 1}-${name}`,
  label: labels[name] ?? name,
  status: state === 'intended' && !running ? 'unknown' : states[state],
  message: null,
  updatedAt: at,
})

/** A handoff as its receipt tells it. */
export const handoffStatus = (receipt: Receipt): HandoffStatus => {
  const journal = journalOf(receipt)
  const moved = journal !== undefined && hasMoved(journal.stage)
  const running = isRunning(receipt)
  return {
    operationId: receipt.requestId,
    revision: revisionOf(receipt),
    status: outcomeOf(receipt, journal),
    threadId: (moved ? forkOf(receipt) : undefined) ?? receipt.threadId ?? null,
    sourceThreadId: receipt.threadId ?? null,
    direction: journal?.direction ?? null,
    workIn: journal === undefined ? null : moved ? 'destination' : 'source',
    source: journal?.from ?? null,
    destination: journal === undefined || journal.to === '' ? null : journal.to,
    steps: receipt.steps
      .map((step, place) => ({ step, place }))
      .filter(({ step }) => step.name in labels)
      .map(({ step, place }) => shownStep(step, place, running)),
    message: messageOf(receipt, journal),
    createdAt: receipt.startedAt,
    updatedAt: receipt.updatedAt,
    completedAt: running ? null : receipt.updatedAt,
  }
}
