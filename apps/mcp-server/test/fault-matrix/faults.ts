/**
 * What can happen around a step: its name, and what it is. Unread: the App Server never got the request. Acted: it
 * carried it out and answered.
 */
export const faults = {
  answerLost: ['answer lost', 'the connection stays, the answer never comes'],
  timeout: ['request lost', 'the connection stays, the App Server never gets the request'],
  reconnect: ['connection ends before', 'just before the request is sent; a new one can be made'],
  unreachable: ['no connection', 'it ends just before the request is sent; no new one can be made'],
  cutUnread: ['connection ends, unread', 'after the request left, before the App Server read it'],
  cutActed: ['connection ends, acted', 'after the App Server carried the request out'],
  serverError: ['error answer', 'the App Server rejects the request'],
  cancelled: ['call cancelled', 'the client cancels the call while the request is on its way'],
  bridgeKilledUnread: ['bridge killed, unread', 'SIGKILL before the App Server read the request'],
  bridgeKilledActed: ['bridge killed, acted', 'SIGKILL before the answer arrived'],
  serverKilledUnread: ['App Server killed, unread', 'SIGKILL before it read the request; started again'],
  serverKilledActed: ['App Server killed, acted', 'SIGKILL before its answer arrived; started again'],
  bothKilledUnread: ['both killed, unread', 'and started again'],
  bothKilledActed: ['both killed, acted', 'and started again'],
  diskFullBefore: ['disk full before', 'no receipt can be written from the intent of the step on'],
  diskFullAfter: ['disk full after', 'no receipt can be written from the outcome of the step on'],
} as const

export type Fault = keyof typeof faults
export const faultNames = Object.keys(faults) as Fault[]
