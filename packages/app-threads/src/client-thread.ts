import { BridgeError, given } from '@codex-thread-bridge/core/contract'
import type { CallOptions, OperationsPort } from '@codex-thread-bridge/core/host'
import type { Receipt } from '@codex-thread-bridge/core/ledger'
import { Type, type Static } from 'typebox'

/** How far a creation is. The first four are kept in its receipt, the others follow from its status. */
export const phases = [
  'queued',
  'creating',
  'worktree-ready',
  'conversation-starting',
  'ready',
  'failed',
] as const
export type Phase = (typeof phases)[number]

/** A creation by the id that stands for its thread until there is one. */
export const Creation = Type.Object({
  clientThreadId: Type.String(),
  phase: Type.Enum([...phases], { type: 'string' }),
  threadId: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
  /** Its bridge ended meanwhile, and what became of it could not be found yet. */
  outcomeUnknown: Type.Optional(Type.Boolean()),
})
export type Creation = Static<typeof Creation>

const PREFIX = 'client-'

/** It is made from the request id: what it stands for is found in the ledger, after a restart too. */
export const clientThreadIdOf = (requestId: string): string => PREFIX + requestId

export const isClientThreadId = (threadId: string): boolean => threadId.startsWith(PREFIX)

const phaseOf = ({ status, phase }: Receipt): Phase => {
  if (status === 'accepted') return 'ready'
  if (status === 'failed') return 'failed'
  return phases.find((known) => known === phase) ?? 'queued'
}

/** A creation as its receipt tells it. */
export const creationOf = (receipt: Receipt): Creation => ({
  clientThreadId: clientThreadIdOf(receipt.requestId),
  phase: phaseOf(receipt),
  ...given({ threadId: receipt.threadId, reason: receipt.error?.message }),
  ...(receipt.status === 'outcome_unknown' ? { outcomeUnknown: true } : {}),
})

/**
 * What has become of a creation; when its bridge is gone, looked for with read-only calls.
 * @throws BridgeError unknown_thread when no creation had that id, ledger_*
 */
export const findCreation = async (
  operations: OperationsPort,
  clientThreadId: string,
  call: CallOptions = {},
): Promise<Creation> => {
  const requestId = clientThreadId.slice(PREFIX.length)
  const receipt = await operations.get(requestId).catch((error: unknown) => {
    if (BridgeError.is(error) && error.code === 'unknown_request') throw unknown(clientThreadId)
    throw error
  })
  if (receipt.operation !== 'create_thread') throw unknown(clientThreadId)
  return creationOf(
    receipt.status === 'outcome_unknown' ? await operations.reconcile(requestId, call) : receipt,
  )
}

const unknown = (clientThreadId: string): BridgeError =>
  new BridgeError('unknown_thread', `No creation has the id ${clientThreadId}.`, { field: 'threadId' })

/** A thread that is only being made cannot be changed. @throws BridgeError thread_pending with its phase */
export const refusePending = async (operations: OperationsPort, threadId: string): Promise<void> => {
  if (!isClientThreadId(threadId)) return
  const { phase, threadId: made, reason } = await findCreation(operations, threadId)
  const told = reason === undefined ? '' : `: ${reason}`
  throw new BridgeError('thread_pending', `Thread ${threadId} is in the phase ${phase}${told}`, {
    field: 'threadId',
    ...given({ hint: made === undefined ? undefined : `Its threadId is ${made}: use that.` }),
  })
}
