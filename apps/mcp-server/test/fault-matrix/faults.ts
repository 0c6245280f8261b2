/** What can happen around a step, in words that follow "when". Unread: the App Server never got the request. Acted: it answered. */
export const faults = {
  answerLost: 'its answer is lost',
  timeout: 'the request is lost',
  reconnect: 'the connection ends just before it is sent, and can be made again',
  unreachable: 'the connection ends just before it is sent, and cannot be made again',
  cutUnread: 'the connection ends after it is sent, before the App Server read it',
  cutActed: 'the connection ends after the App Server acted',
  serverError: 'the App Server answers with an error',
  cancelled: 'the client cancels the call',
  bridgeKilledUnread: 'the bridge is killed before the App Server read it',
  bridgeKilledActed: 'the bridge is killed after the App Server acted',
  serverKilledUnread: 'the App Server is killed before it read it',
  serverKilledActed: 'the App Server is killed after it acted',
  bothKilledUnread: 'both are killed before the App Server read it',
  bothKilledActed: 'both are killed after the App Server acted',
  diskFullBefore: 'the disk is full when its intent is saved',
  diskFullAfter: 'the disk is full when its outcome is saved',
} as const

export type Fault = keyof typeof faults
export const faultNames = Object.keys(faults) as Fault[]
