import {
  asBridgeError,
  BridgeError,
  TransportError,
  type MutationContext,
} from '@codex-thread-bridge/core/contract'
import { sourceCheckout, type Git } from '@codex-thread-bridge/core/git'
import type { AllowedProfiles, WantedAccess } from '@codex-thread-bridge/core/policy'
import type { Thread } from '@codex-thread-bridge/core/protocol'
import { forkMethods, forkThread } from '@codex-thread-bridge/core/threads'
import { carryChanges } from '../git/carry.ts'
import { cleanChanges } from '../git/clean.ts'
import { directoryIn } from '../git/starting-point.ts'
import { makeWorktree, worktreePath } from '../git/worktree.ts'
import { behind, checkDestination, fastForward, takeBack } from './checkout.ts'
import { notCleaned } from './not-cleaned.ts'
import { forkOf, hasMoved, type Journal, type Stage } from './journal.ts'
import type { Plan } from './plan.ts'

/** Every method that a handoff may call. */
export const handoffMethods = [
  'thread/read',
  'thread/queue/list',
  ...forkMethods,
  'thread/name/set',
  'thread/archive',
  'thread/resume',
  'turn/start',
  'thread/items/list',
] as const
export type HandoffContext = MutationContext<(typeof handoffMethods)[number]>

export interface Performing {
  readonly git: Git
  readonly worktreesDir: string
  readonly allowedProfiles: AllowedProfiles
  readonly otherwise: WantedAccess
  readonly source: Thread
  readonly isArchived: boolean
  /** What an earlier handoff of the thread that was cut off has done; this one goes on from there. */
  readonly earlier?: { readonly journal: Journal; readonly fork: string | undefined }
}

/** What a handoff has done. */
export interface Moved {
  /** The thread in the destination. */
  readonly threadId: string
  /** What is left to be done in the source. */
  readonly warning: string | undefined
}

/** One run of a handoff: every move is a step, and the journal in the receipt says what it means. */
export class Handoff {
  readonly #ctx: HandoffContext
  readonly #with: Performing
  #journal: Journal

  constructor(ctx: HandoffContext, performing: Performing, plan: Plan) {
    const { earlier } = performing
    this.#ctx = ctx
    this.#with = performing
    const { source: _source, to = '', ...planned } = plan
    this.#journal = earlier?.journal ?? { ...planned, to, stage: 'preparing' }
  }

  /** @throws what kept the thread from being moved; undone as far as it can be */
  async perform(): Promise<Moved> {
    await this.#ctx.receipt.checkpoint({ handoff: this.#journal })
    try {
      await this.#bringOver()
      const threadId = await this.#switchThread()
      return { threadId, warning: await this.#letGo() }
    } catch (error) {
      await this.#undo(error)
      throw error
    }
  }

  /** What the receipt keeps once a stage is reached. */
  #reach(stage: Stage, more: Partial<Journal> = {}): { handoff: Journal } {
    this.#journal = { ...this.#journal, ...more, stage }
    return { handoff: this.#journal }
  }

  get #paths() {
    return { from: this.#journal.from, to: this.#journal.to }
  }

  get #access() {
    return { cwd: this.#journal.from, roots: [this.#journal.to] }
  }

  /** The destination, with the whole work in it. */
  async #bringOver(): Promise<void> {
    if (hasMoved(this.#journal.stage)) return
    if (this.#journal.direction === 'local-to-worktree') await this.#intoWorktree()
    else await this.#intoCheckout()
  }

  async #intoWorktree(): Promise<void> {
    const { git, worktreesDir, earlier } = this.#with
    const { from, revision, directory } = this.#journal
    if (earlier !== undefined && earlier.journal.stage !== 'preparing') return this.#carry()
    // A worktree that was cut off while it was made is left as it is: another one is made.
    const point = { source: await sourceCheckout(git, from), revision, directory, carry: true }
    const to = await worktreePath(worktreesDir, point, this.#ctx.receipt.requestId)
    await this.#ctx.receipt.checkpoint(this.#reach('preparing', { to }))
    await makeWorktree(this.#ctx, git, point, to)
    await this.#ctx.receipt.checkpoint(this.#reach('carried'))
  }

  async #intoCheckout(): Promise<void> {
    const { git, earlier } = this.#with
    const { to, revision } = this.#journal
    await checkDestination(git, this.#paths, earlier !== undefined)
    const previousRevision = await behind(git, to, revision)
    if (previousRevision !== undefined) {
      await this.#ctx.receipt.checkpoint(this.#reach('preparing', { previousRevision }))
      await this.#ctx.step('fast_forward', () => fastForward(git, to, revision), { access: this.#access })
    }
    await this.#carry()
  }

  async #carry(): Promise<void> {
    const { git, earlier } = this.#with
    await checkDestination(git, this.#paths, earlier !== undefined)
    await this.#ctx.step('carry_changes', () => carryChanges(git, this.#paths), {
      access: this.#access,
      record: () => this.#reach('carried'),
    })
  }

  /** A thread with the same history in the destination, and the old one archived. */
  async #switchThread(): Promise<string> {
    const { source, allowedProfiles, otherwise, earlier, isArchived } = this.#with
    const { to, directory } = this.#journal
    const made = earlier?.fork
    const threadId =
      made ??
      (await forkThread(this.#ctx, {
        source,
        otherwise,
        allowedProfiles,
        cwd: directoryIn(to, directory),
        record: (fork) => ({ fork, ...this.#reach('forked') }),
      }))
    if (made !== undefined) await this.#ctx.receipt.checkpoint({ fork: { threadId } })
    if (typeof source.name === 'string' && made === undefined)
      await this.#ctx.call('thread/name/set', { threadId, name: source.name })
    if (!isArchived)
      await this.#ctx.call(
        'thread/archive',
        { threadId: source.id },
        { record: () => this.#reach('archived') },
      )
    return threadId
  }

  /** The source, without what the destination has. What keeps it from being clean is told: the thread has moved. */
  async #letGo(): Promise<string | undefined> {
    const { git } = this.#with
    try {
      await this.#ctx.step('clean_source', () => cleanChanges(git, this.#paths), {
        access: this.#access,
        record: () => this.#reach('cleaned'),
      })
      return undefined
    } catch (error) {
      return notCleaned(this.#paths, error)
    }
  }

  /** Before the thread has moved, the destination is made what it was; the source was not touched. */
  async #undo(cause: unknown): Promise<void> {
    const unclear = TransportError.is(cause) && cause.delivery === 'unknown'
    if (hasMoved(this.#journal.stage) || unclear) return
    const { git } = this.#with
    const { direction, previousRevision } = this.#journal
    const current = this.#ctx.receipt.current()
    // What it has of its own is none of ours to take away.
    const conflict = BridgeError.is(cause) && cause.code === 'handoff_conflict'
    try {
      const fork = forkOf(current)
      if (fork !== undefined) await this.#ctx.call('thread/archive', { threadId: fork })
      if (direction === 'worktree-to-local' && !conflict)
        await this.#ctx.step('undo_destination', () => takeBack(git, this.#paths, previousRevision), {
          access: this.#access,
        })
      await this.#ctx.receipt.checkpoint(this.#reach('undone'))
    } catch (error) {
      this.#ctx.log('warn', 'handoff_not_undone', { code: asBridgeError(error).code })
    }
  }
}
