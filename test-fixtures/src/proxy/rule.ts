import { poll } from '../poll.ts'
import { type LoggedMessage, type MessageFilter, passes } from './message.ts'

/** What a fault answers in the place of the other side. */
export type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }

export type FaultAction =
  | 'drop'
  | 'duplicate'
  /** Kept until rule.release(), with everything behind it in that direction: the order stays. */
  | 'delay'
  /** Kept until rule.release(); what comes behind overtakes it. */
  | 'withhold'
  /** Both directions of that connection stand still until rule.release(), this message included. */
  | 'freeze'
  | { readonly delayMs: number }
  | { readonly rewrite: (message: unknown) => unknown }
  /**
   * Ends the connection. "after" a request: the client loses it at once, the server's end closes when the answer
   * came, so that the request is carried out for certain and its answer is lost for certain.
   */
  | { readonly cut: 'before' | 'after' }
  /** Answers a request; the other side never sees it. */
  | { readonly respond: Answer | ((request: unknown) => Answer) }

export interface RuleFilter extends MessageFilter {
  /** Fires from the nth match on; 1 by default. */
  readonly nth?: number
  /** Fires so often; once by default. */
  readonly times?: number
}

export interface FaultRule {
  /** The messages it was applied to. */
  readonly fired: readonly LoggedMessage[]
  /** Resolves to the nth message it was applied to, past or future. */
  waitFired(nth?: number): Promise<LoggedMessage>
  /** Sends what is delayed or withheld, ends a freeze; what comes later is kept again while the rule fires. */
  release(): void
  /** Ends the rule and releases what it keeps. */
  remove(): void
}

export interface ActiveRule extends FaultRule {
  readonly action: FaultAction
  /** Counts a message; true if the rule would fire on it. */
  offered(logged: LoggedMessage): boolean
  fire(logged: LoggedMessage): void
  /** Calls back at the next release. */
  keep(release: () => void): void
}

export function createRule(filter: RuleFilter, action: FaultAction, remove: () => void): ActiveRule {
  const { nth = 1, times = 1 } = filter
  const fired: LoggedMessage[] = []
  const kept: (() => void)[] = []
  let seen = 0

  function release(): void {
    for (const resume of kept.splice(0)) resume()
  }
  return {
    action,
    fired,
    offered(logged) {
      if (!passes(filter, logged)) return false
      seen += 1
      return seen >= nth && fired.length < times
    },
    fire: (logged) => void fired.push(logged),
    keep: (resume) => void kept.push(resume),
    waitFired: (n = 1) =>
      poll(() => fired[n - 1], { what: `${actionName(action)} no. ${String(n)} to fire` }),
    release,
    remove() {
      remove()
      release()
    },
  }
}

export function actionName(action: FaultAction): string {
  if (typeof action === 'string') return action
  if ('cut' in action) return `cut ${action.cut}`
  return Object.keys(action).join()
}
