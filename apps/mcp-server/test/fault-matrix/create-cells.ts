import {
  accepted,
  both,
  effects,
  failed,
  found,
  incomplete,
  noIds,
  notDelivered,
  notFound,
  repeatable,
  threadOnly,
  under,
  type PlainRow,
} from './cell.ts'

const nothing = effects(0, 0)
const thread = effects(1, 0)
const all = effects(1, 1)

/** Between `thread/start` and the prompt: the thread is there, and what follows is never made up for. */
const preparing: PlainRow = {
  ...under(['reconnect', 'cancelled'], accepted(both, all)),
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
    incomplete(threadOnly, thread),
  ),
  ...under(
    ['unreachable', 'serverError', 'diskFullBefore', 'diskFullAfter'],
    failed('inspect', threadOnly, thread),
  ),
}

export const createCells = {
  createStart: {
    ...under(['reconnect', 'cancelled'], accepted(both, all)),
    ...under(['unreachable', 'diskFullBefore'], repeatable(both, all)),
    ...under(['answerLost', 'cutActed', 'bridgeKilledActed'], incomplete(noIds, thread)),
    ...under(['timeout', 'cutUnread', 'bridgeKilledUnread'], notFound(noIds, nothing)),
    // The thread lived in the App Server's memory only; a bridge that lives on may have heard of it.
    ...under(['serverKilledUnread', 'bothKilledUnread', 'bothKilledActed'], notDelivered(nothing, noIds)),
    ...under(['serverKilledActed'], incomplete(noIds, nothing)),
    ...under(['serverError'], failed('new_request_id', noIds, nothing)),
    ...under(['diskFullAfter'], failed('inspect', threadOnly, thread)),
  },
  createMove: {
    ...preparing,
    // Nothing was on disk yet: the thread went with the App Server.
    ...under(['serverKilledUnread', 'bothKilledUnread'], incomplete(threadOnly, nothing)),
  },
  createSettings: preparing,
  createName: preparing,
  createTurn: {
    ...under(['reconnect', 'cancelled', 'diskFullAfter'], accepted(both, all)),
    ...under(
      ['answerLost', 'cutActed', 'bridgeKilledActed', 'serverKilledActed', 'bothKilledActed'],
      found('created', threadOnly, both, all),
    ),
    ...under(['timeout', 'cutUnread', 'bridgeKilledUnread'], notFound(threadOnly, thread)),
    ...under(['serverKilledUnread', 'bothKilledUnread'], incomplete(threadOnly, thread)),
    ...under(['unreachable', 'serverError', 'diskFullBefore'], failed('inspect', threadOnly, thread)),
  },
  createUnsubscribe: {
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
      accepted(both, all),
    ),
    ...under(
      ['bridgeKilledUnread', 'bridgeKilledActed', 'bothKilledUnread', 'bothKilledActed'],
      found('created', both, both, all),
    ),
  },
} as const satisfies Record<string, PlainRow>
