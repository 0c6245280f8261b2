import { BridgeError, type ReadContext } from '@codex-thread-bridge/core/contract'
import { allRows } from '@codex-thread-bridge/core/threads'

/** The name of the App Server's own section of pinned threads. */
export const PINNED = 'Pinned'

/** Its id. @throws BridgeError method_unavailable when it has none */
export const pinnedSection = async (
  ctx: Pick<ReadContext<'threadSection/list'>, 'call'>,
): Promise<string> => {
  const sections = await allRows((page) => ctx.call('threadSection/list', page))
  const found = sections.find(({ name }) => name === PINNED)
  if (found === undefined)
    throw new BridgeError('method_unavailable', `The App Server has no section ${PINNED}.`)
  return found.id
}
