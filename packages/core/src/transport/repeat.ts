import { TransportError } from '../contract/errors.ts'
import type { Method } from '../protocol/methods.ts'
import type { Outcome } from './session.ts'
import { smallerPage } from './smaller-page.ts'

type Loss = Extract<Outcome, { kind: 'lost' }>

/** A read as it is sent, and how often its connection was lost while it waited. */
export interface Attempt {
  readonly params: object
  readonly losses: number
  readonly frameTooLong: number
}

export const firstAttempt = (params: object): Attempt => ({ params, losses: 0, frameTooLong: 0 })

/** More over-long frames than these, and the read whose page cannot be smaller is taken for the one that caused them. */
const suspicions = 3

/**
 * How a read is sent again after a loss: once as it was; after an over-long frame with half the page.
 * @throws TransportError connection_lost at the second loss, result_too_large when its page cannot be smaller
 */
export const nextAttempt = (method: Method, attempt: Attempt, loss: Loss): Attempt => {
  if (!loss.frameTooLong) {
    if (attempt.losses > 0) throw connectionLost(method)
    return { ...attempt, losses: 1 }
  }
  const params = smallerPage(method, attempt.params)
  if (params !== undefined) return { ...attempt, params }
  const frameTooLong = attempt.frameTooLong + 1
  // Which of several waiting reads the frame was for cannot be known: it is refused by its length alone.
  if (loss.alone || frameTooLong >= suspicions) {
    throw new TransportError('result_too_large', `The answer to ${method} is over 64 MiB.`, 'unknown')
  }
  return { ...attempt, frameTooLong }
}

export const connectionLost = (method: Method): TransportError =>
  new TransportError('connection_lost', `The connection ended before ${method} was answered.`, 'unknown')
