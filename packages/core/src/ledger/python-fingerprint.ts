import { canonicalJson, sha256 } from './fingerprint.ts'
import type { LedgerRow } from './port.ts'
import { resolveAsPython } from './python-path.ts'

type Members = Readonly<Record<string, unknown>>

/** What the Python bridge made a fingerprint of. */
interface PythonForm {
  /** The arguments that it had; a call with another one was never made through it. */
  readonly args: readonly string[]
  /** Its parameters: null stands in the text, undefined does not. */
  readonly params: (args: Members) => Members
}

const orNull = (value: unknown): unknown => value ?? null

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const workspaceConfig = (policy: Members): Members | undefined =>
  policy.type === 'workspaceWrite'
    ? {
        sandbox_workspace_write: {
          writable_roots: policy.writableRoots,
          network_access: policy.networkAccess,
          exclude_tmpdir_env_var: policy.excludeTmpdirEnvVar,
          exclude_slash_tmp: policy.excludeSlashTmp,
        },
      }
    : undefined

/** The reviewer counts where it is in force: with a policy, or when approvals may be asked for. */
const createThread: PythonForm = {
  args: [
    'cwd',
    'prompt',
    'title',
    'sandbox',
    'sandbox_policy',
    'approval_policy',
    'approvals_reviewer',
    'model',
    'app_server_project_id',
  ],
  params: (args) => {
    const policy = isMembers(args.sandbox_policy) ? args.sandbox_policy : undefined
    const approvalPolicy = args.approval_policy ?? 'never'
    const reviewer = args.approvals_reviewer ?? 'auto_review'
    return {
      cwd: args.cwd,
      sandbox: args.sandbox ?? 'read-only',
      approvalPolicy,
      ephemeral: false,
      prompt: orNull(args.prompt),
      title: orNull(args.title),
      model: args.model,
      projectId: args.app_server_project_id,
      approvalsReviewer: policy !== undefined || approvalPolicy !== 'never' ? reviewer : undefined,
      config: policy && workspaceConfig(policy),
      sandbox_policy: policy,
      approvals_reviewer: policy && reviewer,
    }
  },
}

const sendMessage: PythonForm = {
  args: ['thread_id', 'message'],
  params: (args) => ({ threadId: args.thread_id, message: args.message }),
}

const worktreeArgs = [
  'source_repository',
  'starting_revision',
  'destination',
  'worktree_mode',
  'sandbox',
  'expected_sandbox_policy',
  'prompt',
  'title',
  'model',
  'reasoning_effort',
  'app_server_project_id',
]

const createWorktreeThread: PythonForm = {
  args: worktreeArgs,
  params: (args) => Object.fromEntries(worktreeArgs.map((name) => [name, orNull(args[name])])),
}

const forms = new Map([
  ['create_thread', createThread],
  ['send_message_to_thread', sendMessage],
  ['create_worktree_thread', createWorktreeThread],
])

/**
 * Whether a row that the Python bridge left is of this very call (contract: receipts, The ledger file). Its version 2
 * took the directory as supplied. Version 1, which wrote no version, resolved it: only then are links looked at, and a
 * directory that is gone is compared as far as it leads. False for every row of our own.
 */
export const isPythonReplay = (
  row: LedgerRow,
  family: string,
  operation: string,
  input: Members,
  resolve: (path: string) => string = resolveAsPython,
): boolean => {
  const version = row.receipt.fingerprintVersion ?? 1
  const form = forms.get(operation)
  if (family !== 'bridge' || version > 2 || form === undefined) return false
  const { request_id: _requestId, ...args } = input
  if (Object.keys(args).some((name) => args[name] !== undefined && !form.args.includes(name))) return false
  const made = (params: Members): boolean =>
    sha256(canonicalJson([operation, params], { nulls: 'keep' })) === row.fingerprint
  const params = form.params(args)
  if (made(params)) return true
  return version === 1 && typeof params.cwd === 'string' && made({ ...params, cwd: resolve(params.cwd) })
}
