import { BridgeError, TransportError } from '../contract/errors.ts'
import { methodSpec, type Method } from '../protocol/methods.ts'
import { appServerError } from './rpc-errors.ts'
import type { Outcome } from './session.ts'

/** The error for a call that has no usable answer. */
export const failure = (method: Method, outcome: Exclude<Outcome, { kind: 'answered' }>): BridgeError => {
  switch (outcome.kind) {
    case 'refused':
      return appServerError(method, outcome.rpc)
    case 'timed_out':
      return new TransportError('request_timeout', `${method} was not answered in time.`, 'unknown')
    case 'cancelled':
      return new BridgeError('cancelled', `${method} was cancelled; its answer is ignored.`)
    case 'not_sent':
      return notSent('connection_lost', `The connection ended before ${method} was sent.`)
    case 'too_large':
      return notSent('message_too_large', `${method} would be a message of ${outcome.bytes} bytes.`)
    case 'lost':
      return outcome.frameTooLong && methodSpec(method).effect === 'read'
        ? new TransportError('result_too_large', `The answer to ${method} is over 64 MiB.`, 'unknown')
        : new TransportError(
            'connection_lost',
            `The connection ended before ${method} was answered.`,
            'unknown',
          )
  }
}

export const cancelledUnsent = (method: Method): TransportError =>
  notSent('cancelled', `${method} was cancelled before it was sent.`)

export const clientClosed = (): TransportError => notSent('host_state', 'The App Server client is closed.')

const notSent = (
  code: 'cancelled' | 'connection_lost' | 'message_too_large' | 'host_state',
  message: string,
): TransportError => new TransportError(code, message, 'not_sent')
