import { BridgeError, type ReadContext } from '@codex-thread-bridge/core/contract'
import type { Model } from '@codex-thread-bridge/core/protocol'
import { allRows } from '@codex-thread-bridge/core/threads'

const catalog = (ctx: Pick<ReadContext<'model/list'>, 'call'>): Promise<readonly Model[]> =>
  allRows((page) => ctx.call('model/list', { ...page, includeHidden: true }))

const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(', ')

/**
 * A model that is named must be in the App Server's catalog, and take the effort that goes with it.
 * @throws BridgeError unsupported_model
 */
export const checkModel = async (
  ctx: Pick<ReadContext<'model/list'>, 'call'>,
  model: string | undefined,
  thinking: string | undefined,
): Promise<void> => {
  if (model === undefined) return
  const models = await catalog(ctx)
  const found = models.find((known) => known.model === model || known.id === model)
  if (found === undefined)
    throw new BridgeError(
      'unsupported_model',
      `The App Server’s catalog has no model ${JSON.stringify(model)}. It has: ${quoted(models.map((known) => known.model))}.`,
      { field: 'model' },
    )
  const efforts = found.supportedReasoningEfforts.map(({ reasoningEffort }) => reasoningEffort)
  if (thinking !== undefined && !efforts.includes(thinking))
    throw new BridgeError(
      'unsupported_model',
      `The model ${JSON.stringify(model)} does not take thinking ${JSON.stringify(thinking)}. It takes: ${quoted(efforts)}.`,
      { field: 'thinking' },
    )
}
