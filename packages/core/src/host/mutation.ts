import { asBridgeError, BridgeError } from '../contract/errors.ts'
import { given } from '../contract/given.ts'
import type { AnyMutation, Log, MutationContext, StepOptions } from '../contract/tool.ts'
import { deliveryMarker } from '../ledger/fingerprint.ts'
import type { LedgerPort } from '../ledger/port.ts'
import type { Receipt, ReceiptPatch } from '../ledger/receipt.ts'
import { methodSpec, type Method, type Params, type Result } from '../protocol/methods.ts'
import { canonicalThreadId } from '../protocol/thread-id.ts'
import { readContext, type CallOptions, type Surroundings } from './context.ts'
import { accessGate } from './access-gate.ts'
import { declaredOnly } from './gate.ts'
import { keepTrying } from './keep-trying.ts'
import type { ParsedInput } from './parse.ts'
import { endingOf, failedState, Steps } from './steps.ts'
import { ThreadClaim } from './thread-claim.ts'

const RECEIPTS_A_PAGE = 20

export interface MutationRun {
  readonly tool: AnyMutation
  readonly input: ParsedInput
  readonly receipt: Receipt
  readonly options: CallOptions
  /** Aborts what has not begun; ignored after the first step. */
  readonly cancel: AbortSignal
  /** An answer that came after its time-out was reported. */
  readonly onLateStep: (place: number, patch: ReceiptPatch) => void
  readonly onReceipt: (receipt: Receipt) => void
}

const cancelled = (): BridgeError =>
  new BridgeError('cancelled', 'The call was cancelled before anything was sent.')

/** A signal that follows another one until it is let go of. */
const followUntil = (source: AbortSignal): { readonly signal: AbortSignal; release(): void } => {
  const controller = new AbortController()
  const abort = (): void => controller.abort(cancelled())
  if (source.aborted) abort()
  source.addEventListener('abort', abort)
  return { signal: controller.signal, release: () => source.removeEventListener('abort', abort) }
}

/** Puts the delivery marker where the method table has a place for it. */
const withMarker = <M extends Method>(
  method: M,
  params: Params<M>,
  marker: string | undefined,
): Params<M> => {
  const spec = methodSpec(method)
  if (spec.marker === undefined) return params
  if (marker === undefined && spec.markerRequired !== true) return params
  return { ...params, [spec.marker]: marker ?? '' }
}

/** A thread's receipts, newest first, read as far as they are looked at. */
function* receiptsOf(ledger: LedgerPort, threadId: string): Generator<Receipt> {
  for (let after: Receipt | undefined; ;) {
    const { receipts, more } = ledger.list({ threadId, limit: RECEIPTS_A_PAGE, ...given({ after }) })
    yield* receipts
    after = receipts.at(-1)
    if (!more || after === undefined) return
  }
}

/** Where a bug happened, without its message, which may quote an argument. */
const framesOf = (error: unknown): readonly string[] =>
  error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : []

/** A row that cannot be taken away goes as soon as it can; once this process is gone it is read as not sent. */
const dropRow = (ledger: LedgerPort, requestId: string, log: Log): void =>
  keepTrying(() => {
    try {
      ledger.drop(requestId)
    } catch (error) {
      log('error', 'row_not_dropped', { requestId, code: asBridgeError(error).code })
      throw error
    }
  })

/**
 * Runs a claimed mutation to its end.
 * @returns the final receipt
 * @throws BridgeError when provably nothing was sent; the row is gone then
 */
export const runMutation = async (
  around: Surroundings,
  ledger: LedgerPort,
  run: MutationRun,
): Promise<Receipt> => {
  const { clock, log, appServer } = around
  const { tool, input } = run
  const allow = declaredOnly(tool)
  const gate = accessGate(around.ceiling, run.options.caller ?? {})
  const steps = new Steps(ledger, run.receipt, clock, log)
  const claim = new ThreadClaim(ledger, run.receipt.requestId)
  const follow = followUntil(run.cancel)
  const marker = around.deliveryMarkers ? deliveryMarker(ledger.endpoint, run.receipt.requestId) : undefined

  const learn = (patch: ReceiptPatch | undefined): void => {
    if (tool.thread === undefined && typeof patch?.threadId === 'string') claim.take(patch.threadId)
    run.onReceipt(steps.receipt)
  }

  const act = async <T>(
    name: string,
    byAppServer: boolean,
    perform: (place: number) => Promise<T>,
    { record, access }: StepOptions<T>,
  ): Promise<T> => {
    if (access !== undefined) await gate.checkStep(name, access)
    if (follow.signal.aborted) throw cancelled()
    const place = await steps.begin(name, byAppServer ? appServer.actions.server : undefined)
    follow.release()
    run.onReceipt(steps.receipt)
    try {
      const answer = await perform(place)
      const patch = record?.(answer)
      steps.end(place, 'answered', patch)
      learn(patch)
      return answer
    } catch (error) {
      steps.end(place, failedState(error, byAppServer))
      throw error
    }
  }

  const base = readContext(around, appServer.actions, allow, { ...run.options, signal: follow.signal })
  const context: MutationContext<Method> = {
    ...base,
    call: async <M extends Method>(method: M, params: Params<M>, options: StepOptions<Result<M>> = {}) => {
      if (methodSpec(method).effect === 'read') return base.call(method, params)
      allow(method)
      await gate.checkMethod(method, params)
      await appServer.actions.connect()
      const onLateAnswer = (place: number) => (answer: Result<M>) =>
        run.onLateStep(place, options.record?.(answer) ?? {})
      return act(
        method,
        true,
        async (place) => {
          const answer = await appServer.actions.call(method, withMarker(method, params, marker), {
            onLateAnswer: onLateAnswer(place),
          })
          gate.learn(method, answer)
          return answer
        },
        options,
      )
    },
    step: (name, perform, options = {}) => act(name, false, perform, options),
    judge: (what, access) => gate.checkStep(what, access),
    judgeThread: (threadId) => gate.checkThread(threadId),
    claimThread: (threadId) => claim.wait(canonicalThreadId(threadId), clock, follow.signal),
    receipt: {
      requestId: run.receipt.requestId,
      marker,
      current: () => steps.receipt,
      checkpoint: async (patch) => {
        await steps.checkpoint(patch)
        learn(patch)
      },
    },
    server: () => appServer.actions.connect(),
    receiptsOf: (threadId) => receiptsOf(ledger, canonicalThreadId(threadId)),
  }

  try {
    const threadId = tool.thread?.(input)
    if (threadId !== undefined) await claim.wait(canonicalThreadId(threadId), clock, follow.signal)
    const patch = await tool.run(context, input)
    return await steps.finish({ ...patch, status: 'accepted', next: 'none' })
  } catch (thrown) {
    const ending = endingOf(steps.receipt, thrown)
    const error = asBridgeError(thrown)
    log(error.code === 'internal' ? 'error' : 'info', 'mutation_not_accepted', {
      requestId: run.receipt.requestId,
      code: error.code,
      ...(error.code === 'internal' ? { frames: framesOf(error.cause) } : {}),
    })
    if (!ending.drop) return await steps.finish(ending.patch)
    dropRow(ledger, run.receipt.requestId, log)
    throw error
  } finally {
    follow.release()
    claim.release()
  }
}
