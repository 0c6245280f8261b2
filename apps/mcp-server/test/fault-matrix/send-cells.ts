import {
  accepted,
  both,
  effects,
  failed,
  found,
  notDelivered,
  notFound,
  repeatable,
  threadOnly,
  under,
  type Row,
} from './cell.ts'

const nothing = effects(0, 0)
const message = effects(0, 1)

/** The step that carries the message; each way differs where it says so. */
const carrying: Row = {
  ...under(['reconnect', 'cancelled', 'diskFullAfter'], accepted(both, message)),
  ...under(
    ['answerLost', 'cutActed', 'bridgeKilledActed', 'serverKilledActed', 'bothKilledActed'],
    found('delivered', threadOnly, both, message),
  ),
  ...under(['timeout', 'cutUnread', 'bridgeKilledUnread'], notFound(threadOnly, nothing)),
  ...under(['serverKilledUnread', 'bothKilledUnread'], notDelivered(nothing)),
  ...under(['unreachable'], failed('new_request_id', threadOnly, nothing, 'not_sent')),
  ...under(['serverError', 'diskFullBefore'], failed('new_request_id', threadOnly, nothing)),
}

const afterCrash = (fault: 'serverKilledActed' | 'bothKilledActed') => ({
  upTo154: notDelivered(nothing)(fault),
  later: found('delivered', threadOnly, both, message)(fault),
})

export const sendCells = {
  sendResume: {
    ...under(['reconnect', 'cancelled'], accepted(both, message)),
    ...under(['unreachable', 'diskFullBefore'], repeatable(both, message)),
    ...under(
      [
        'answerLost',
        'timeout',
        'cutUnread',
        'cutActed',
        'bridgeKilledUnread',
        'bridgeKilledActed',
        'serverKilledUnread',
        'serverKilledActed',
        'bothKilledUnread',
        'bothKilledActed',
      ],
      failed('new_request_id', threadOnly, nothing, 'not_sent'),
    ),
    ...under(['serverError', 'diskFullAfter'], failed('new_request_id', threadOnly, nothing)),
  },
  sendTurn: carrying,
  sendSteer: {
    ...carrying,
    // Up to 0.154 a steered message waits in memory for the running model call.
    serverKilledActed: afterCrash('serverKilledActed'),
    bothKilledActed: afterCrash('bothKilledActed'),
  },
  sendQueue: {
    ...carrying,
    // Its turn begins later: a receipt that is looked up again learns it.
    ...under(['reconnect', 'cancelled', 'diskFullAfter'], accepted(threadOnly, message, both)),
    // The queue survives, and waits until somebody resumes the thread.
    ...under(['serverKilledActed', 'bothKilledActed'], found('delivered', threadOnly, threadOnly, message)),
  },
  sendUnsubscribe: {
    ...under(
      [
        'answerLost',
        'timeout',
        'reconnect',
        'unreachable',
        'cutUnread',
        'cutActed',
        'serverError',
        'cancelled',
        'serverKilledUnread',
        'serverKilledActed',
        'diskFullBefore',
        'diskFullAfter',
      ],
      accepted(both, message),
    ),
    ...under(
      ['bridgeKilledUnread', 'bridgeKilledActed', 'bothKilledUnread', 'bothKilledActed'],
      found('delivered', both, both, message),
    ),
  },
  restoreTurn: carrying,
  restoreReadBack: {
    // The message is there, whether or not its settings can be read back.
    ...under(
      [
        'answerLost',
        'timeout',
        'reconnect',
        'unreachable',
        'cutUnread',
        'cutActed',
        'serverError',
        'cancelled',
        'serverKilledUnread',
        'serverKilledActed',
        'diskFullBefore',
        'diskFullAfter',
      ],
      accepted(both, message),
    ),
    ...under(
      ['bridgeKilledUnread', 'bridgeKilledActed', 'bothKilledUnread', 'bothKilledActed'],
      found('delivered', both, both, message),
    ),
  },
} as const satisfies Record<string, Row>
