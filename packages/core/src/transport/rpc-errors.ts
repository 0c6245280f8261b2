import { AppServerError, type ErrorCode, type RpcErrorBody } from '../contract/errors.ts'
import { memberOf } from './messages.ts'

type Rule = readonly [code: ErrorCode, applies: (rpc: RpcErrorBody, method: string) => boolean]

const says = (words: RegExp) => (rpc: RpcErrorBody) => words.test(rpc.message)
const dataIs = (rpc: RpcErrorBody, member: string, value: string) => memberOf(rpc.data, member) === value

/** The App Server has few codes of its own: most refusals are told apart by their words. The first that applies counts. */
const rules: readonly Rule[] = [
  ['server_shutting_down', (rpc) => dataIs(rpc, 'reason', 'serverShuttingDown')],
  ['server_overloaded', (rpc) => rpc.code === -32001 || dataIs(rpc, 'codexErrorInfo', 'serverOverloaded')],
  ['input_too_large', (rpc) => dataIs(rpc, 'input_error_code', 'input_too_large')],
  // A wrong enum value is an "unknown variant" too: only the method's own name tells that the method is missing.
  ['method_unavailable', (rpc, method) => rpc.message.includes(`unknown variant \`${method}\``)],
  ['thread_owned_elsewhere', says(/already has an active writer/i)],
  ['thread_archived', says(/is archived/i)],
  ['thread_not_materialized', says(/not materialized|list_turns is not supported yet/i)],
  ['unknown_project', says(/project not found/i)],
  ['invalid_cursor', says(/invalid .*cursor/i)],
  [
    'thread_not_found',
    says(/thread not loaded|thread not found|no (archived )?rollout found|invalid (thread|session) id/i),
  ],
]

/** The error answer of a method, with the code that an agent can act on; `app_server_error` when none is known. */
export const appServerError = (method: string, rpc: RpcErrorBody): AppServerError =>
  new AppServerError(
    rules.find(([, applies]) => applies(rpc, method))?.[0] ?? 'app_server_error',
    method,
    rpc,
  )
