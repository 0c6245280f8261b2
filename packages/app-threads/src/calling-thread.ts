import { BridgeError, type Caller } from '@codex-thread-bridge/core/contract'

/** The thread that is named, else the one that calls. @throws BridgeError caller_unknown */
export const threadOrCaller = (threadId: string | undefined, caller: Caller): string => {
  const meant = threadId ?? caller.threadId
  if (meant !== undefined) return meant
  throw new BridgeError(
    'caller_unknown',
    'Without `threadId` the calling thread is meant, and the client does not tell which thread calls.',
    { field: 'threadId' },
  )
}
