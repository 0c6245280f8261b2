import { BridgeError } from '../contract/errors.ts'
import type { AnyMutation, Caller } from '../contract/tool.ts'
import { deliveryMarker, fingerprint, FINGERPRINT_VERSION } from '../ledger/fingerprint.ts'
import type { LedgerPort } from '../ledger/port.ts'
import { processOwner } from '../ledger/owner.ts'
import { isPythonReplay } from '../ledger/python-fingerprint.ts'
import type { Receipt, ReceiptPatch } from '../ledger/receipt.ts'
import type { CallOptions, Surroundings } from './context.ts'
import { checkSelfTarget } from './gate.ts'
import { requestIdOf } from './identify.ts'
import { runMutation } from './mutation.ts'
import type { ParsedInput } from './parse.ts'
import type { Entry } from './registry.ts'
import { Running } from './running.ts'
import { settles } from './steps.ts'

/** What a caller sees of a receipt. */
export const answerOf = (receipt: Receipt, replayed: boolean): Receipt => {
  const { owner: _owner, ...answer } = receipt
  return { ...answer, replayed }
}

const callerOf = ({ threadId, turnId }: Caller): ReceiptPatch =>
  threadId === undefined ? {} : { caller: { threadId, ...(turnId === undefined ? {} : { turnId }) } }

/** The argument that names the thread, in the family's own spelling. */
const fieldOf = (input: ParsedInput, threadId: string | undefined): string | undefined =>
  Object.keys(input).find((key) => input[key] === threadId)

const isSideStep = ({ status, steps }: Receipt, place: number): boolean =>
  status === 'accepted' && !settles(steps[place]?.name ?? '')

const conflict = (requestId: string): BridgeError =>
  new BridgeError(
    'request_conflict',
    `request_id ${JSON.stringify(requestId)} was used before with other arguments.`,
    {
      field: 'request_id',
    },
  )

/** Every mutation of a host: claimed once, run once, joined by its repetitions. */
export class Mutations {
  readonly #running = new Map<string, Running>()
  readonly #around: Surroundings
  readonly #ledger: () => Promise<LedgerPort>
  readonly #ids: () => string
  readonly #onLate: (requestId: string) => void

  constructor(
    around: Surroundings,
    ledger: () => Promise<LedgerPort>,
    ids: () => string,
    /** After a late answer has been written. */
    onLate: (requestId: string) => void,
  ) {
    this.#around = around
    this.#ledger = ledger
    this.#ids = ids
    this.#onLate = onLate
  }

  /**
   * The receipt: final, or as it stands at the end of the call budget (`execution: "running"`).
   * @throws BridgeError request_conflict, ledger_*, self_target, and whatever ends a call without a row
   */
  async call(
    { tool, plugin }: Entry & { readonly tool: AnyMutation },
    input: ParsedInput,
    options: CallOptions,
  ): Promise<Receipt> {
    const caller = options.caller ?? {}
    const threadId = tool.thread?.(input)
    checkSelfTarget(threadId, caller, fieldOf(input, threadId))
    const requestId = requestIdOf(tool.name, input, caller, this.#ids)
    const print = fingerprint(plugin.family, tool.name, input)
    const ledger = await this.#ledger()
    const joined = this.#running.get(requestId)
    if (joined !== undefined) {
      if (joined.fingerprint !== print) throw conflict(requestId)
      return this.#await(joined, tool, options, true)
    }
    const receipt: Receipt = {
      ...this.#fresh(requestId, tool.name, plugin.family, ledger.endpoint, caller),
      ...tool.opening?.(input),
    }
    const { won, row } = ledger.claim({ fingerprint: print, receipt })
    if (!won) {
      if (row.fingerprint !== print && !isPythonReplay(row, plugin.family, tool.name, input))
        throw conflict(requestId)
      return answerOf(row.receipt, true)
    }
    const running = this.#start(ledger, tool, input, receipt, print, options)
    return this.#await(running, tool, options, false)
  }

  /** Resolves when nothing runs any more, or after `ms`. */
  async settle(ms: number): Promise<void> {
    const all = Promise.allSettled([...this.#running.values()].map(({ done }) => done))
    const timer = new AbortController()
    await Promise.race([all, this.#around.clock.sleep(ms, timer.signal).catch(() => undefined)])
    timer.abort()
  }

  #fresh(requestId: string, operation: string, family: string, endpoint: string, caller: Caller): Receipt {
    const now = this.#around.clock.now() / 1000
    return {
      requestId,
      operation,
      family,
      status: 'in_progress_or_unknown',
      startedAt: now,
      updatedAt: now,
      retrySafe: false,
      next: 'reconcile',
      fingerprintVersion: FINGERPRINT_VERSION,
      ...(this.#around.deliveryMarkers ? { deliveryMarker: deliveryMarker(endpoint, requestId) } : {}),
      owner: processOwner(),
      ...callerOf(caller),
      steps: [],
    }
  }

  #start(
    ledger: LedgerPort,
    tool: AnyMutation,
    input: ParsedInput,
    receipt: Receipt,
    print: string,
    options: CallOptions,
  ): Running {
    const { requestId } = receipt
    const running = new Running(print, receipt, (cancel, onReceipt) =>
      runMutation(this.#around, ledger, {
        tool,
        input,
        receipt,
        options,
        cancel,
        onReceipt,
        onLateStep: (place, patch) => void this.#late(ledger, requestId, place, patch),
      }),
    )
    this.#running.set(requestId, running)
    const forget = (): void => void this.#running.delete(requestId)
    running.done.then(forget, forget)
    return running
  }

  /** The end of the run, of the call budget (or the tool's own, shorter one), or of the caller's patience, whichever is first. */
  async #await(
    running: Running,
    { answerWithinMs = Infinity }: AnyMutation,
    { signal }: CallOptions,
    replayed: boolean,
  ): Promise<Receipt> {
    running.join(signal)
    const budget = new AbortController()
    const asItStands = this.#around.clock
      .sleep(Math.min(this.#around.limits.callMs, answerWithinMs), budget.signal)
      .then(() => ({ ...running.receipt, execution: 'running' as const }))
    asItStands.catch(() => undefined)
    try {
      return answerOf(await Promise.race([running.done, asItStands]), replayed)
    } finally {
      budget.abort()
    }
  }

  /**
   * A late answer is known for sure; what it means for the whole is then looked up, not guessed. Of an accepted receipt
   * only the steps that never decided anything can still tell something.
   */
  async #late(ledger: LedgerPort, requestId: string, place: number, patch: ReceiptPatch): Promise<void> {
    await this.#running.get(requestId)?.done.catch(() => undefined)
    try {
      const receipt = ledger.get(requestId)?.receipt
      const open = receipt?.status === 'outcome_unknown'
      if (receipt === undefined || !(open || isSideStep(receipt, place))) return
      const steps = receipt.steps.map((step, index) =>
        index === place ? { ...step, state: 'answered' as const } : step,
      )
      ledger.save({ ...receipt, ...patch, steps, updatedAt: this.#around.clock.now() / 1000 })
      if (open) this.#onLate(requestId)
    } catch {
      this.#around.log('warn', 'late_answer_not_kept', { requestId })
    }
  }
}
