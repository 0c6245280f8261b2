import { isAbsolute } from 'node:path'
import { Compile } from 'typebox/compile'
import { BridgeError } from '../contract/errors.ts'
import type { Caller, StepAccess } from '../contract/tool.ts'
import { accessOfEnvironment, accessOfParams, type NamedAccess } from '../policy/access.ts'
import {
  accessWords,
  callerAccess,
  refuseAccess,
  refuseDirectory,
  type Ceiling,
  type Refusal,
} from '../policy/ceiling.ts'
import { realPathOf } from '../policy/real-path.ts'
import { Environment } from '../protocol/items.ts'
import { methodSpec, type Method } from '../protocol/methods.ts'
import { threadKey } from '../protocol/thread-id.ts'
import { checkSelfTarget } from './gate.ts'

const environment = Compile(Environment)

/** Judges the steps of one mutation before they begin (policy: The operator's ceiling). */
export interface AccessGate {
  /**
   * A method that starts, loads, feeds or sets an agent. What feeds one is judged on the environment that the App Server
   * reported for that thread in this very mutation.
   * @throws BridgeError ceiling_exceeded, escalation_refused, invalid_cwd, self_target, environment_unseen
   */
  checkMethod(method: Method, params: object): Promise<void>
  /**
   * What a thread has, as the App Server reported it in this very mutation: the same judgement, before anything feeds it.
   * @throws BridgeError ceiling_exceeded, escalation_refused, environment_unseen
   */
  checkThread(threadId: string): Promise<void>
  /** Any other step that declares its access. @throws BridgeError ceiling_exceeded, escalation_refused, invalid_cwd */
  checkStep(name: string, access: StepAccess): Promise<void>
  /** What the answer to a method tells of a thread. */
  learn(method: Method, answer: unknown): void
}

/** A new thread that names no access gets what the App Server is configured for. */
const CONFIGURED = { unknown: 'the access that the App Server is configured for' }

const refused = (what: string, { code, because }: Refusal): BridgeError =>
  new BridgeError(code, `${what}: ${because}.`)

export const accessGate = (ceiling: Ceiling, caller: Caller): AccessGate => {
  const callers = callerAccess(caller.sandbox)
  const reported = new Map<string, Environment>()

  /** `has` is what stands before an access in a sentence, `works` before a directory. */
  const judge = async (has: string, works: string, named: NamedAccess): Promise<void> => {
    for (const access of named.accesses) {
      const refusal = refuseAccess(ceiling, callers, access)
      if (refusal !== undefined) throw refused(`${has} ${accessWords(access)}`, refusal)
    }
    if (ceiling.allowRoots.length === 0) return
    for (const directory of named.directories) {
      // Where a relative one leads, nobody can tell.
      if (!isAbsolute(directory))
        throw new BridgeError('invalid_cwd', `${works} ${directory}: the path must be absolute.`)
      const refusal = refuseDirectory(ceiling, await realPathOf(directory))
      if (refusal !== undefined) throw refused(`${works} ${directory}`, refusal)
    }
  }

  const judgeReported = async (what: string, threadId: string): Promise<void> => {
    const seen = reported.get(threadKey(threadId))
    if (seen === undefined)
      throw new BridgeError(
        'environment_unseen',
        `${what} needs the environment of thread ${threadId} as the App Server reports it in this call; nothing was sent.`,
      )
    await judge(`Thread ${threadId} has`, `Thread ${threadId} works in`, accessOfEnvironment(seen))
  }

  return {
    async checkMethod(method, params) {
      const { agent = 'none' } = methodSpec(method)
      if (agent === 'none') return
      const named = accessOfParams(params)
      if (agent === 'starts') {
        const accesses = named.accesses.length === 0 ? [CONFIGURED] : named.accesses
        return judge('The new thread would have', 'The new thread would work in', { ...named, accesses })
      }
      const threadId = 'threadId' in params ? String(params.threadId) : ''
      if (agent !== 'loads') checkSelfTarget(threadId, caller)
      if (agent === 'feeds') await judgeReported(method, threadId)
      await judge(`Thread ${threadId} would get`, `Thread ${threadId} would work in`, named)
    },

    checkThread: (threadId) => judgeReported('The call', threadId),

    checkStep: (name, { cwd, roots = [], policy }) =>
      judge(`${name} would start something with`, `${name} would work in`, {
        accesses: policy === undefined ? [] : [{ policy }],
        directories: [cwd, ...roots, ...(policy?.type === 'workspaceWrite' ? policy.writableRoots : [])],
      }),

    learn(method, answer) {
      const { agent } = methodSpec(method)
      if ((agent !== 'starts' && agent !== 'loads') || !environment.Check(answer)) return
      reported.set(threadKey(answer.thread.id), answer)
    },
  }
}
