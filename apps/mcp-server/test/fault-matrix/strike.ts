import { poll, type FaultAction, type FaultRule } from '@codex-thread-bridge/test-fixtures'
import type { Answer } from './bridges.ts'
import type { Scene } from './scene.ts'

/** The rule that keeps, loses or answers the step; the earliest one fires once, at the step's own call. */
const onRequest = ({ lane, step }: Scene, action: FaultAction): FaultRule =>
  lane.proxy.on({ direction: 'to-server', kind: 'request', method: step.method, nth: step.nth }, action)
const onResponse = ({ lane, step }: Scene, action: FaultAction): FaultRule =>
  lane.proxy.on({ direction: 'to-client', kind: 'response', method: step.method, nth: step.nth }, action)

/** The last step of a creation comes late on a busy machine. A call that ends before its step says how. */
const fired = async (rule: FaultRule, call?: Promise<Answer | undefined>): Promise<void> => {
  let ended: Answer | undefined
  void call?.then((answer) => (ended = answer))
  const come = () => rule.fired.length > 0 || ended !== undefined
  await poll(come, { what: 'the step to come', timeoutMs: 60_000, every: 20 })
  if (rule.fired.length === 0)
    throw new Error(
      `the call ended before its step: ${JSON.stringify(ended !== undefined && 'receipt' in ended ? ended.receipt.error : ended)}`,
    )
}

const call = ({ bridge, step, args }: Scene, signal?: AbortSignal): Promise<Answer> =>
  bridge.call(step.tool, args, signal)

/** Calls, and answers when the fault has done its work; nothing when the caller gets no answer. */
export type Strike = (scene: Scene) => Promise<Answer | undefined>

const withRule =
  (rule: (scene: Scene) => FaultRule): Strike =>
  async (scene) => {
    const active = rule(scene)
    const answer = await call(scene)
    await fired(active)
    active.remove()
    return answer
  }

/** The connection ends in the moment before the step is handed to the transport, which has noticed. */
const cutBefore = async (scene: Scene, refused: boolean): Promise<Answer> => {
  const { lane, before } = scene
  let cut = false
  before.hook = async (actions) => {
    cut = true
    const lost = new Promise<void>((resolve) => actions.onDisconnect(resolve))
    if (refused) await lane.proxy.close()
    else lane.proxy.cut()
    await lost
  }
  const answer = await call(scene)
  if (!cut) throw new Error('the step never came')
  if (refused) await lane.relisten()
  return answer
}

const cancel: Strike = async (scene) => {
  const { bridge, requestId } = scene
  const rule = onRequest(scene, 'withhold')
  const patience = new AbortController()
  const answer = call(scene, patience.signal).catch(() => undefined)
  await fired(rule, answer)
  patience.abort()
  if ((await answer) !== undefined) throw new Error('a cancelled call was answered')
  rule.remove()
  await poll(
    async () => {
      const now = await bridge.get(requestId)
      return 'error' in now || now.receipt.status !== 'in_progress_or_unknown'
    },
    { what: 'the cancelled call to end', timeoutMs: 30_000, every: 50 },
  )
  return undefined
}

const fillDisk =
  (save: 'intent' | 'outcome'): Strike =>
  async (scene) => {
    const { disk, step } = scene
    disk.fillAt((receipt) => {
      const state = receipt.steps.filter(({ name }) => name === step.method)[step.nth - 1]?.state
      return state !== undefined && (save === 'intent') === (state === 'intended')
    })
    const answer = await call(scene)
    if (!disk.full) throw new Error('the disk was never full')
    disk.free()
    return answer
  }

/** Faults that concern no other cell. */
export const strikes: Readonly<Partial<Record<Scene['fault'], Strike>>> = {
  answerLost: withRule((scene) => onResponse(scene, 'drop')),
  timeout: withRule((scene) => onRequest(scene, 'drop')),
  reconnect: (scene) => cutBefore(scene, false),
  unreachable: (scene) => cutBefore(scene, true),
  cutUnread: withRule((scene) => onRequest(scene, { cut: 'before' })),
  cutActed: withRule((scene) => onRequest(scene, { cut: 'after' })),
  serverError: withRule((scene) => onRequest(scene, { respond: { error: { code: -32600, message: 'no' } } })),
  cancelled: cancel,
  diskFullBefore: fillDisk('intent'),
  diskFullAfter: fillDisk('outcome'),
}

/** A call that stands at its step: the request or its answer is kept by the proxy. */
export interface Held {
  readonly answer: Promise<Answer | undefined>
  /** Nothing that is kept may arrive any more. */
  forget(): void
}

export const holdAtStep = async (scene: Scene): Promise<Held> => {
  const { lane, fault } = scene
  const rule = fault.endsWith('Unread') ? onRequest(scene, 'withhold') : onResponse(scene, 'withhold')
  const answer = call(scene).catch(() => undefined)
  await fired(rule, answer)
  return {
    answer,
    forget: () => {
      lane.proxy.cut()
      rule.remove()
    },
  }
}
