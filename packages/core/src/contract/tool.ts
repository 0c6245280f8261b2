import type { Static, TObject } from 'typebox'
import type { Method, Params, ReadMethod, Result } from '../protocol/methods.ts'
import type { SandboxPolicy } from '../protocol/sandbox.ts'
import type { Receipt, ReceiptPatch } from '../ledger/receipt.ts'
import type { ServerInfo, ServerNotification } from './app-server.ts'

/** Who calls, as far as the client says so: a hint, never authentication. */
export interface Caller {
  readonly threadId?: string
  readonly turnId?: string
  readonly sandbox?: string
  /** What identifies this one call for its client; equal for a repetition by the host. */
  readonly callIdentity?: string
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after `ms`; rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export type LogLevel = 'error' | 'warn' | 'info' | 'debug'
/** One JSON line; fields never hold prompt text or tokens. */
export type Log = (level: LogLevel, event: string, fields?: Readonly<Record<string, unknown>>) => void

export interface Limits {
  /** How long one call may take before it answers with what it has, in milliseconds. */
  readonly callMs: number
  /** How large the JSON of one answer may be. */
  readonly resultBytes: number
}

export interface ReadContext<U extends Method> {
  /** Calls an App Server method that the tool declares in `uses`. */
  call<M extends U>(method: M, params: Params<M>): Promise<Result<M>>
  /** Aborts when the client cancels (a mutation's: only before its first step). */
  readonly signal: AbortSignal
  readonly caller: Caller
  readonly clock: Clock
  readonly log: Log
  readonly limits: Limits
  /** When the call budget ends, on `clock`. */
  readonly deadline: number
  /** Tells the client how far the call is. */
  progress(message: string): void
  /**
   * Notifications of the App Server that this kind of call can see; `onLoss` after each loss of the connection, when
   * some may have been missed. Returns the unsubscribe.
   */
  observe(listener: (notification: ServerNotification) => void, onLoss?: () => void): () => void
  /** What the last handshake of this call's connection told; undefined before the first. Never connects. */
  lastServer(): ServerInfo | undefined
}

/** What a step lets something do besides a method's own effect: Git preparation, a process that is started. */
export interface StepAccess {
  /** Where it works. */
  readonly cwd: string
  /** Other directories that it writes to. */
  readonly roots?: readonly string[]
  /** What an agent or a process that it starts may do; left out when it starts none. */
  readonly policy?: SandboxPolicy
}

export interface StepOptions<T> {
  /** Judged by the operator's ceiling and the caller's own access before the step begins. */
  readonly access?: StepAccess
  /** What the receipt learns from the answer, saved with the end of the step; also when the answer comes late. */
  readonly record?: (answer: T) => ReceiptPatch
}

export interface MutationContext<U extends Method> extends ReadContext<U> {
  /** A mutating method is a step of the receipt; a read is not. The delivery marker is put in by the host. */
  call<M extends U>(method: M, params: Params<M>, options?: StepOptions<Result<M>>): Promise<Result<M>>
  /** Any other action on the world: intent is durable before `act` runs, the outcome after. */
  step<T>(name: string, act: () => Promise<T>, options?: StepOptions<T>): Promise<T>
  /**
   * Judges what later steps are going to do, before anything is looked at for them.
   * @throws BridgeError ceiling_exceeded, escalation_refused, invalid_cwd
   */
  judge(what: string, access: StepAccess): Promise<void>
  /**
   * Judges what a thread has, as the App Server reported it in this call: goes before every other look at it.
   * @throws BridgeError ceiling_exceeded, escalation_refused, environment_unseen
   */
  judgeThread(threadId: string): Promise<void>
  /**
   * Waits for its turn on a thread, for a tool that cannot name it by `thread`: before anything is done to it.
   * @throws BridgeError thread_claimed
   */
  claimThread(threadId: string): Promise<void>
  readonly receipt: {
    readonly requestId: string
    /** The delivery marker, or undefined when markers are off. */
    readonly marker: string | undefined
    /** As it stands. */
    current(): Receipt
    /** Durable when it resolves. The first `threadId` also claims that thread. */
    checkpoint(patch: ReceiptPatch): Promise<void>
  }
  /** Connects if need be; a new object after each reconnect. */
  server(): Promise<ServerInfo>
  /** Receipts of earlier operations on a thread, newest first. */
  receiptsOf(threadId: string): Iterable<Receipt>
}

export interface ReconcileContext extends ReadContext<ReadMethod> {
  /** The server that answers now. */
  readonly server: ServerInfo
  /** The thread of a `thread/started` broadcast that carried this marker. */
  startedThread(marker: string): string | undefined
}

export const verdicts = [
  'delivered',
  'created',
  'created_incomplete',
  'not_found',
  'not_delivered',
  'not_started',
  'unreachable',
  'unknowable',
] as const
/** What reconciliation found (contract: receipts, Reconciliation). */
export interface Verdict {
  readonly verdict: (typeof verdicts)[number]
  readonly looked: Readonly<Record<string, unknown>>
  /** What the receipt learns. */
  readonly patch?: ReceiptPatch
}

interface ToolText {
  /** snake_case. */
  readonly name: string
  readonly title: string
  /** One tight paragraph, at most 1,000 characters. */
  readonly description: string
}

/**
 * An input with the App Server's canned answers to it: documentation and test (core/testing, testPlugin).
 * An answer is the method's result, or `{ error: { code, message } }` with one of our codes for a refusal, or
 * `{ each: [...] }` for one answer a call, in order, the last one again and again. The text `{marker}` in it stands for
 * the delivery marker of the call.
 */
export interface Example {
  readonly input: Readonly<Record<string, unknown>>
  readonly answers: Readonly<Partial<Record<Method, unknown>>>
}

export interface ReadTool<I extends TObject, O extends TObject, U extends ReadMethod> extends ToolText {
  readonly kind: 'read'
  readonly input: I
  readonly output: O
  readonly uses: readonly U[]
  readonly examples: readonly Example[]
  /** What the schema cannot say: the first broken rule of an input that fits it. Runs before anything else. */
  check?(input: Static<I>): InputFault | undefined
  run(ctx: ReadContext<U>, input: Static<I>): Promise<Static<O>>
}

export interface MutationTool<I extends TObject, O extends TObject, U extends Method> extends ToolText {
  readonly kind: 'mutation'
  readonly input: I
  /** The whole answer: the receipt and the operation's own members (receiptOutput). */
  readonly output: O
  readonly uses: readonly U[]
  readonly examples: readonly Example[]
  check?(input: Static<I>): InputFault | undefined
  /** The existing thread it acts on: claimed for the call, refused when it is the caller's own. */
  thread?(input: Static<I>): string
  /** What the receipt holds from the claim on: what was asked, for a reconciliation after a crash. */
  opening?(input: Static<I>): ReceiptPatch
  /** Resolves when accepted, with what the receipt still lacks; throws a BridgeError otherwise. */
  run(ctx: MutationContext<U>, input: Static<I>): Promise<ReceiptPatch>
  reconcile?(ctx: ReconcileContext, receipt: Receipt): Promise<Verdict>
  /** The same where the evidence is on this host: no App Server is needed. Undefined: it is not, `reconcile` is asked. */
  reconcileHere?(receipt: Receipt): Promise<Verdict | undefined>
  /** What the caller gets in place of the receipt, whatever its status; the receipt itself unless given. */
  answer?(receipt: Receipt): Static<O>
  /** After so many milliseconds the call answers with the receipt so far, and the action goes on; never beyond the call budget. */
  readonly answerWithinMs?: number
}

/** A broken rule of the input: where, what, and a stable code when it is not invalid_arguments. */
export interface InputFault {
  readonly field: string
  readonly message: string
  readonly code?:
    | 'invalid_arguments'
    | 'invalid_cwd'
    | 'invalid_source_repository'
    | 'invalid_destination'
    | 'unsupported_sandbox_policy'
    | 'unsupported_target'
  /** What to do, where the code's own advice does not fit the tool. */
  readonly hint?: string
}

/** What a host holds of a tool once its exact types are forgotten. */
export type AnyTool = AnyRead | AnyMutation

interface AnyToolParts extends ToolText {
  readonly input: TObject
  readonly output: TObject
  readonly uses: readonly Method[]
  readonly examples: readonly Example[]
}
export interface AnyRead extends AnyToolParts {
  readonly kind: 'read'
  check?(input: unknown): InputFault | undefined
  run(ctx: ReadContext<Method>, input: unknown): Promise<unknown>
}
export interface AnyMutation extends AnyToolParts {
  readonly kind: 'mutation'
  check?(input: unknown): InputFault | undefined
  thread?(input: unknown): string
  opening?(input: unknown): ReceiptPatch
  run(ctx: MutationContext<Method>, input: unknown): Promise<ReceiptPatch>
  reconcile?(ctx: ReconcileContext, receipt: Receipt): Promise<Verdict>
  reconcileHere?(receipt: Receipt): Promise<Verdict | undefined>
  answer?(receipt: Receipt): unknown
  readonly answerWithinMs?: number
}

/** A read: the types of `input`, `output` and `ctx.call` follow from what is written. */
export const defineRead = <const I extends TObject, const O extends TObject, const U extends ReadMethod>(
  tool: Omit<ReadTool<I, O, U>, 'kind'>,
): ReadTool<I, O, U> => Object.freeze({ ...tool, kind: 'read' })

/** A mutation: its steps are recorded, its request id never acts twice. */
export const defineMutation = <const I extends TObject, const O extends TObject, const U extends Method>(
  tool: Omit<MutationTool<I, O, U>, 'kind'>,
): MutationTool<I, O, U> => Object.freeze({ ...tool, kind: 'mutation' })

export interface PluginScope {
  /** Runs at host.close(), in reverse order. */
  onClose(close: () => void | Promise<void>): void
}

export interface Plugin {
  readonly name: string
  /** Part of every fingerprint: `bridge`, `codex-app`, `jobs`, or a third party's own. */
  readonly family: string
  readonly version: string
  readonly tools: readonly AnyTool[]
  setup?(scope: PluginScope): void | Promise<void>
}

/** A tool family as one value. */
export const definePlugin = (plugin: Plugin): Plugin => Object.freeze(plugin)
