import { TransportError } from '../contract/errors.ts'
import type { Session } from './session.ts'

/** No App Server has it, so that it is refused without doing anything. */
const noMethod = 'codexThreadBridge/methods'

/**
 * The methods that the App Server has, as it lists them when it refuses one that it does not have.
 * Undefined when its words hold no list. @throws TransportError when there is no answer
 */
export const listMethods = async (
  session: Session,
  timeoutMs: number,
): Promise<ReadonlySet<string> | undefined> => {
  const outcome = await session.request(noMethod, {}, { timeoutMs })
  if (outcome.kind === 'refused') return listedIn(outcome.rpc.message)
  if (outcome.kind === 'answered') return undefined
  throw outcome.kind === 'timed_out'
    ? new TransportError(
        'request_timeout',
        'The App Server did not say in time which methods it has.',
        'unknown',
      )
    : new TransportError(
        'connection_lost',
        'The connection ended before the App Server listed its methods.',
        'unknown',
      )
}

/** ... unknown variant `x`, expected one of `a`, `b` */
const listedIn = (message: string): ReadonlySet<string> | undefined => {
  const list = /expected one of (.*)$/s.exec(message)?.[1]
  return list === undefined
    ? undefined
    : new Set([...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''))
}
