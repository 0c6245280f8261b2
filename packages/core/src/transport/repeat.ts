import { methodSpec, type Method } from '../protocol/methods.ts'
import { appServerError } from './rpc-errors.ts'
import type { Outcome } from './session.ts'
import { smallerPage } from './smaller-page.ts'

type Failed = Exclude<Outcome, { kind: 'answered' }>

/** A call as it is sent, and what became of it before. */
export interface Attempt {
  readonly params: object
  readonly losses: number
  /** An over-long frame may have been its answer: it is sent when no other suspect waits. */
  readonly suspect: boolean
  /** Over-long frames since its page cannot be smaller. */
  readonly longFrames: number
  readonly overloads: number
  /** How long to wait before it is sent. */
  readonly pauseMs: number
}

export const firstAttempt = (params: object): Attempt => ({
  params,
  losses: 0,
  suspect: false,
  longFrames: 0,
  overloads: 0,
  pauseMs: 0,
})

const mostLosses = 1
const mostOverloads = 3
const firstPauseMs = 100
/** After so many, the answer of the one suspect that was sent is taken for the cause, whatever else was waiting. */
const convicting = 3

/** How a read is sent again; undefined when it is given up. A mutation always is. */
export const nextAttempt = (
  method: Method,
  attempt: Attempt,
  outcome: Failed,
  random: () => number,
): Attempt | undefined => {
  if (methodSpec(method).effect === 'mutate') return undefined
  if (outcome.kind === 'refused' && appServerError(method, outcome.rpc).code === 'server_overloaded') {
    return afterOverload(attempt, random)
  }
  if (outcome.kind !== 'lost') return undefined
  if (outcome.frameTooLong) return afterLongFrame(method, attempt, outcome.alone)
  return attempt.losses < mostLosses ? { ...attempt, losses: attempt.losses + 1, pauseMs: 0 } : undefined
}

/** Pauses double; chance keeps the clients of one App Server from coming back all at once. */
const afterOverload = (attempt: Attempt, random: () => number): Attempt | undefined => {
  if (attempt.overloads >= mostOverloads) return undefined
  const pauseMs = firstPauseMs * 2 ** attempt.overloads * (0.5 + random())
  return { ...attempt, overloads: attempt.overloads + 1, pauseMs }
}

/** Which of several waiting reads the frame was for cannot be known: it is refused by its length alone. */
const afterLongFrame = (method: Method, attempt: Attempt, alone: boolean): Attempt | undefined => {
  const again = { ...attempt, suspect: true, pauseMs: 0 }
  if (!alone && !attempt.suspect) return again
  const params = smallerPage(method, attempt.params)
  if (params !== undefined) return { ...again, params }
  const longFrames = attempt.longFrames + 1
  return alone || longFrames >= convicting ? undefined : { ...again, longFrames }
}
