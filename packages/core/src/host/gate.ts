import { BridgeError } from '../contract/errors.ts'
import type { AnyTool, Caller } from '../contract/tool.ts'
import { methodSpec, type Method } from '../protocol/methods.ts'
import { threadKey } from '../protocol/thread-id.ts'

/** What stands between a tool and the App Server. @throws BridgeError undeclared_method */
export const declaredOnly =
  (tool: AnyTool) =>
  (method: Method): void => {
    if (!tool.uses.includes(method))
      throw new BridgeError(
        'undeclared_method',
        `${tool.name} called ${method}, which its \`uses\` does not list.`,
      )
  }

/** Reconciliation never changes anything. @throws BridgeError undeclared_method */
export const readsOnly = (method: Method): void => {
  if (methodSpec(method).effect === 'mutate')
    throw new BridgeError('undeclared_method', `Reconciliation called ${method}, which is no read.`)
}

/** A thread never acts on itself through the bridge. @throws BridgeError self_target */
export const checkSelfTarget = (threadId: string | undefined, caller: Caller, field = 'thread_id'): void => {
  if (threadId === undefined || caller.threadId === undefined) return
  if (threadKey(threadId) === threadKey(caller.threadId))
    throw new BridgeError('self_target', `Thread ${threadId} is the one that calls.`, { field })
}
