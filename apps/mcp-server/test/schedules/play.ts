import { deliveryMarker, type Receipt } from '@codex-thread-bridge/core/ledger'
import { poll } from '@codex-thread-bridge/test-fixtures'
import type { Answer } from './bridges.ts'
import { callFault, lookFault, settle, type Intent, type Variant } from './intents.ts'
import { shown } from './shown.ts'
import { faulty } from './faults.ts'
import { outcomeFault, type Ended } from './outcome.ts'
import { sendsFault } from './sends.ts'
import { HOLD, type Stage } from './stage.ts'
import { seated, type Call, type Schedule, type Seat, type Step } from './steps.ts'
import { readTruth } from './truth.ts'

/** A broken promise, with what happened before it. */
export class Violation extends Error {
  constructor(fault: string, trace: readonly string[]) {
    super([fault, ...trace].join('\n  '))
    this.name = 'Violation'
  }
}

const RESOLVE_MS = 10_000
/** Faults of what may still be on its way. */
const PASSING = /is lost|not found|is in turn/
let plays = 0

/** Plays one schedule, looks at the truth, and compares. @throws Violation */
export const play = async (
  stage: Stage,
  schedule: Schedule,
  onAnswer: (answer: Answer) => void,
): Promise<void> => {
  const run = new Play(stage, `${process.pid}-${(plays += 1)}`, onAnswer)
  await run.begin()
  for (const step of schedule.steps) await run.step(step)
  await run.end(schedule.crashAtEnd)
}

class Play {
  readonly #stage: Stage
  readonly #name: string
  readonly #intents: Intent[] = []
  readonly #threads: string[] = []
  readonly #trace: string[] = []
  readonly #since = Date.now()
  readonly #killsBefore: number
  readonly #onAnswer: (answer: Answer) => void
  #texts = 0

  constructor(stage: Stage, name: string, onAnswer: (answer: Answer) => void) {
    this.#stage = stage
    this.#name = name
    this.#onAnswer = onAnswer
    this.#killsBefore = stage.kills
  }

  /** One thread for messages to go to. */
  async begin(): Promise<void> {
    await this.#stage.serverUp()
    await this.#call({ act: 'create', seat: 'patient', prompt: true, title: false })
    if (this.#threads.length === 0) this.#fail('the first creation was not accepted')
  }

  async step(step: Step): Promise<void> {
    switch (step.step) {
      case 'calls':
        await this.#calls(step)
        break
      case 'busy':
        await this.#busy(step.thread)
        break
      case 'release':
        this.#stage.release()
        break
      case 'cut':
        this.#stage.world.proxy.cut()
        break
      case 'server':
        await this.#stage.killServer()
        if (step.to === 'restarted') await this.#stage.serverUp()
        break
      case 'bridge':
        await this.#stage.endBridge(step.seat)
    }
    if (step.step !== 'calls') this.#trace.push(JSON.stringify(step))
    this.#checkSends()
  }

  /** Restarts what died, resumes every thread with another client, reconciles every receipt, and compares. */
  async end(crash: boolean): Promise<void> {
    this.#stage.release()
    if (crash) await this.#stage.killServer()
    await this.#stage.serverUp()
    if (crash) await this.#stage.endBridge('patient')
    const known = [...this.#threads, ...this.#intents.flatMap(({ settled }) => settled?.threadId ?? [])]
    // A message that goes from queue to turn and a late answer take their moment: what is found in the end counts.
    const until = performance.now() + RESOLVE_MS
    let fault = await this.#difference(known)
    while (fault !== undefined && PASSING.test(fault) && performance.now() < until)
      fault = await this.#difference(known)
    if (fault !== undefined) this.#fail(fault)
    this.#checkSends()
  }

  /** The first receipt that does not say what is. */
  async #difference(threadIds: readonly string[]): Promise<string | undefined> {
    const truth = await readTruth(this.#stage, threadIds, this.#since)
    for (const intent of this.#intents) {
      const fault = outcomeFault(this.#ended(intent, await this.#look('patient', intent)), truth)
      if (fault !== undefined) return fault
    }
    return undefined
  }

  #ended(intent: Intent, receipt: Receipt | undefined): Ended {
    const crashed = this.#stage.kills > intent.killsBefore
    return { intent, marker: this.#marker(intent), receipt, crashed }
  }

  async #calls({ calls, fault, again }: Step & { step: 'calls' }): Promise<void> {
    const known = this.#intents.length
    const acting = fault === undefined ? calls : calls.map((call) => seated(call, fault.fault))
    if (fault !== undefined) this.#trace.push(JSON.stringify(fault))
    await faulty(this.#stage, fault, () => Promise.all(acting.map((call) => this.#call(call))))
    for (const intent of this.#intents) await this.#endedRunning(intent)
    if (again === undefined) return
    for (const intent of this.#intents.slice(known)) await this.#repeat(again, intent)
  }

  /** A call that answers "running" goes on elsewhere; the next step begins when nothing runs any more. */
  async #endedRunning(intent: Intent): Promise<void> {
    if (intent.settled !== undefined) return
    await poll(
      async () => {
        const bridge = await this.#stage.bridge('patient')
        const answer = await bridge.ask('get_operation', { request_id: intent.requestId })
        if (answer.kind === 'receipt') settle(intent, answer, this.#stage.sends.total(this.#marker(intent)))
        return answer.kind !== 'receipt' || answer.receipt.status !== 'in_progress_or_unknown'
      },
      { what: `the end of ${intent.requestId}`, timeoutMs: 45_000, every: 25 },
    )
  }

  #call(call: Call): Promise<void> {
    switch (call.act) {
      case 'create':
        return this.#create(call)
      case 'message':
        return this.#message(call)
      case 'replay':
        return this.#earlier(call.of, (intent) => this.#repeat(call.seat, intent))
      case 'conflict':
        return this.#conflict(call)
      case 'reconcile':
        return this.#earlier(call.of, (intent) => this.#look(call.seat, intent))
      case 'foreign':
        return this.#foreign(call)
    }
  }

  async #create({ seat, prompt, title }: Call & { act: 'create' }): Promise<void> {
    const text = prompt ? this.#text() : undefined
    const name = `request-${this.#name}-${this.#intents.length}`
    const args = {
      request_id: name,
      cwd: this.#stage.world.cwd,
      ...(text === undefined ? {} : { prompt: text }),
      ...(title ? { title: name } : {}),
    }
    await this.#first(seat, 'create_thread', undefined, { args, text, onlyConflicts: true })
  }

  async #message({ seat, thread, ifBusy }: Call & { act: 'message' }): Promise<void> {
    const threadId = nth(this.#threads, thread)
    if (threadId === undefined) return
    const text = this.#text()
    const request_id = `request-${this.#name}-${this.#intents.length}`
    const args = { request_id, thread_id: threadId, message: text, if_busy: ifBusy }
    await this.#first(seat, 'send_message_to_thread', threadId, { args, text, onlyConflicts: true })
  }

  async #first(
    seat: Seat,
    tool: Intent['tool'],
    threadId: string | undefined,
    variant: Variant,
  ): Promise<void> {
    const intent: Intent = {
      requestId: String(variant.args.request_id),
      tool,
      threadId,
      variants: [variant],
      killsBefore: this.#stage.kills,
      winner: undefined,
      settled: undefined,
      sendsWhenSettled: undefined,
    }
    this.#intents.push(intent)
    await this.#ask(seat, intent, variant)
  }

  async #earlier(n: number, act: (intent: Intent) => Promise<unknown>): Promise<void> {
    const intent = nth(this.#intents, n)
    if (intent !== undefined) await act(intent)
  }

  async #repeat(seat: Seat, intent: Intent): Promise<void> {
    const variant = intent.winner ?? intent.variants[0]
    if (variant !== undefined) await this.#ask(seat, intent, variant)
  }

  async #conflict({ seat, of }: Call & { act: 'conflict' }): Promise<void> {
    const intent = nth(this.#intents, of)
    const first = intent?.variants[0]
    if (intent === undefined || first === undefined) return
    const text = this.#text()
    const member = intent.tool === 'create_thread' ? 'prompt' : 'message'
    const variant: Variant = { args: { ...first.args, [member]: text }, text, onlyConflicts: true }
    intent.variants.push(variant)
    await this.#ask(seat, intent, variant)
  }

  async #ask(seat: Seat, intent: Intent, variant: Variant): Promise<void> {
    const bridge = await this.#stage.bridge(seat)
    const before = intent.settled
    const answer = await bridge.ask(intent.tool, variant.args)
    this.#note(seat, intent, variant.text ?? 'no text', answer)
    const fault = callFault(intent, variant, before, answer)
    if (fault !== undefined) this.#fail(`${intent.requestId}: ${fault}`)
    this.#learn(intent, answer)
  }

  async #look(seat: Seat, intent: Intent): Promise<Receipt | undefined> {
    const bridge = await this.#stage.bridge(seat)
    const before = intent.settled
    const answer = await bridge.ask('get_operation', { request_id: intent.requestId, reconcile: true })
    this.#note(seat, intent, 'reconcile', answer)
    const fault = lookFault(intent, before, answer)
    if (fault !== undefined) this.#fail(`${intent.requestId}, reconciled: ${fault}`)
    this.#learn(intent, answer)
    return answer.kind === 'receipt' ? answer.receipt : undefined
  }

  async #foreign({ thread }: Call & { act: 'foreign' }): Promise<void> {
    const threadId = nth(this.#threads, thread)
    if (threadId === undefined || !this.#stage.world.appServer.running) return
    const client = await this.#stage.client()
    const sent = client
      .call('thread/resume', { threadId, excludeTurns: true })
      .then(() => client.startTurn(threadId, `foreign-${this.#text()}`))
    this.#trace.push(`foreign: ${await sent.catch(String)}`)
  }

  async #busy(thread: number): Promise<void> {
    const threadId = nth(this.#threads, thread)
    if (threadId === undefined || !this.#stage.world.appServer.running) return
    const client = await this.#stage.client()
    await client
      .call('thread/resume', { threadId, excludeTurns: true })
      .then(() => client.startTurn(threadId, HOLD + this.#text()))
      .catch((error: unknown) => void this.#trace.push(String(error)))
  }

  #learn(intent: Intent, answer: Answer): void {
    settle(intent, answer, this.#stage.sends.total(this.#marker(intent)))
    const { settled } = intent
    const threadId = settled?.status === 'accepted' ? settled.threadId : undefined
    if (threadId !== undefined && !this.#threads.includes(threadId)) this.#threads.push(threadId)
  }

  #checkSends(): void {
    for (const intent of this.#intents) {
      const sends = this.#stage.sends.of(this.#marker(intent))
      const fault = sendsFault(sends)
      if (fault !== undefined) this.#fail(`${intent.requestId}: ${fault}`)
      const total = this.#stage.sends.total(this.#marker(intent))
      if (intent.sendsWhenSettled !== undefined && total !== intent.sendsWhenSettled)
        this.#fail(`${intent.requestId}: a call after its end sent something`)
    }
  }

  #marker({ requestId }: Intent): string {
    return deliveryMarker(this.#stage.endpoint, requestId)
  }

  #text(): string {
    return `text-${this.#name}-${(this.#texts += 1)}`
  }

  #note(seat: Seat, { requestId, tool }: Intent, what: string, answer: Answer): void {
    this.#onAnswer(answer)
    this.#trace.push(`${seat}: ${tool} ${requestId} (${what}): ${shown(answer)}`)
  }

  #fail(fault: string): never {
    throw new Violation(fault, [...this.#trace, `kills: ${this.#stage.kills - this.#killsBefore}`])
  }
}

const nth = <T>(list: readonly T[], n: number): T | undefined => list.at(-1 - (n % (list.length || 1)))
