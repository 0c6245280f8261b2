/** The one thing an agent acts on; the same words in errors and receipts. */
export type Next = 'fix_call' | 'same_request_id' | 'new_request_id' | 'reconcile' | 'inspect' | 'none'

interface CodeRow {
  readonly next: Next
  /** When this is thrown; docs/errors.md is generated from it. */
  readonly when: string
  /** What to do, unless the place that throws knows better. */
  readonly hint: string
}

const row = (next: Next, when: string, hint: string): CodeRow => ({ next, when, hint })

/** Every code that a user can meet. */
export const errorCodes = {
  // The call
  invalid_arguments: row(
    'fix_call',
    'An argument is missing, unknown, misplaced or out of its bounds.',
    'Correct the named field and call again.',
  ),
  invalid_cwd: row(
    'fix_call',
    '`cwd` is not an existing absolute directory on this host.',
    'Pass the absolute path of an existing directory.',
  ),
  unsupported_sandbox_policy: row(
    'fix_call',
    'The policy cannot be asked for when a thread is created (read-only with network).',
    'Choose workspace-write with network, or read-only without.',
  ),
  self_target: row(
    'fix_call',
    'A thread tried to act on itself through the bridge.',
    'Act on another thread; answer in your own turn instead.',
  ),
  ceiling_exceeded: row(
    'fix_call',
    'The call would start or feed an agent beyond what the operator of this bridge allows, or work in a directory that is not allowed.',
    'Ask for less, or for an allowed directory: get_capabilities shows the ceiling. Only the operator can raise it.',
  ),
  escalation_refused: row(
    'fix_call',
    'The call would start or feed an agent with wider access than the agent that calls has itself.',
    'Ask for no more than the calling agent has. Only the operator can lift this, with --allow-escalation.',
  ),
  unknown_tool: row(
    'fix_call',
    'No plugin of this host has a tool of that name.',
    'List the tools and use one of their names.',
  ),
  unknown_request: row(
    'fix_call',
    'The ledger of this App Server holds no receipt for that request_id.',
    'Check the id and the socket; nothing was recorded under it here.',
  ),
  unknown_thread: row(
    'fix_call',
    'The App Server knows no thread of that id.',
    'Take the id from list_threads or from a receipt.',
  ),
  unknown_project: row(
    'new_request_id',
    'The App Server knows no project of that id.',
    'Use the id of a project that the App Server has, or name no project.',
  ),
  unsupported_target: row(
    'fix_call',
    'The target is of a kind that only Codex Desktop can serve: a ChatGPT work in the cloud, or another host.',
    'Use target.type "project" or "projectless".',
  ),
  unsupported_model: row(
    'fix_call',
    'The App Server’s catalog does not have the model, or the model does not take that reasoning effort.',
    'Use one of those in the message, or leave model and thinking out.',
  ),
  caller_unknown: row(
    'fix_call',
    'The call means the calling thread, but its client does not tell which thread calls.',
    'Pass threadId.',
  ),
  uncarried_changes: row(
    'inspect',
    'Uncommitted changes of a checkout cannot be carried into a worktree, or something wrote there meanwhile.',
    'Commit what the message names, or start from a commit alone; the source is unchanged.',
  ),
  handoff_running: row(
    'new_request_id',
    'The thread is being handed off already.',
    'get_handoff_status with the operationId in the message tells how far it is.',
  ),
  handoff_conflict: row(
    'new_request_id',
    'The place that a thread is to be handed off to has work of its own: uncommitted changes, or other commits.',
    'Commit or take away what the message names, then hand off again; nothing was lost on either side.',
  ),
  thread_pending: row(
    'fix_call',
    'The id is that of a thread which is still being created, or whose creation failed; nothing was changed.',
    'Wait for it with wait_threads, then use the threadId that it tells.',
  ),
  invalid_cursor: row(
    'fix_call',
    'The cursor is not one that this list handed out.',
    'Pass nextCursor exactly as it was returned, or leave the cursor out.',
  ),
  request_conflict: row(
    'new_request_id',
    'The request_id was used before with other arguments.',
    'Use a new request_id for a new intention; the old receipt is unchanged.',
  ),
  cancelled: row(
    'same_request_id',
    'The client cancelled the call before anything was sent.',
    'Nothing happened. Repeat the call if you still want it.',
  ),
  thread_claimed: row(
    'same_request_id',
    'Another call was working on the thread for 30 s.',
    'Nothing was sent. Repeat the call.',
  ),

  // Background CLI agents
  unknown_job: row(
    'fix_call',
    'No job of this host has that job_id, or no job ever had that pid.',
    'Take job_id from run or list_processes.',
  ),
  unknown_model: row(
    'fix_call',
    'The model belongs to no CLI that this bridge runs, or not to the one that `agent` names.',
    'Do as the message says, or see models for the names of each agent.',
  ),
  cli_unavailable: row(
    'same_request_id',
    'The CLI that the job needs is missing, not executable or configured wrongly. Nothing was started.',
    'Install it, or set its *_CLI_NAME variable to its absolute path; doctor shows where each CLI was looked for.',
  ),
  access_unavailable: row(
    'fix_call',
    'The CLI cannot run with the access that the job was to have. Nothing was started.',
    'Ask for another access, or use another agent.',
  ),
  too_many_jobs: row(
    'same_request_id',
    'As many jobs run already as the operator allows (--jobs-max-running). Nothing was started.',
    'Wait for a job, or end one with kill_process; then repeat.',
  ),
  disk_low: row(
    'same_request_id',
    'The disk that holds the jobs has less than 512 MiB free. Nothing was started.',
    'Free some space (cleanup_processes with delete_logs removes the logs of finished jobs), then repeat.',
  ),
  job_not_started: row(
    'new_request_id',
    'The system could not start the process of the job.',
    'Read the message; correct what it names, then call again with a new request_id.',
  ),
  job_not_ended: row(
    'inspect',
    'Processes of the job are still alive after SIGKILL.',
    'Look at the pids in the message: the system does not let them go.',
  ),
  wait_timed_out: row(
    'same_request_id',
    'Jobs were still running at the end of the observed time, and on_timeout is "throw".',
    'The jobs go on. Call wait again.',
  ),

  // The App Server's socket
  socket_absent: row(
    'same_request_id',
    'There is no socket at the App Server path.',
    'Start the App Server (`codex app-server --listen unix://`) or pass --socket.',
  ),
  socket_stale: row(
    'same_request_id',
    'A socket file exists but nobody listens on it.',
    'The App Server died or was stopped: start it again.',
  ),
  socket_forbidden: row(
    'same_request_id',
    'The socket may not be opened by this user.',
    'Run the bridge as the user who runs the App Server.',
  ),
  socket_path_too_long: row(
    'same_request_id',
    'The socket path is longer than a Unix socket address allows (107 bytes), also when resolved.',
    'Start the App Server on a shorter path and pass it with --socket.',
  ),
  socket_wrong_type: row(
    'same_request_id',
    'The App Server path is a file or a directory, not a socket.',
    'Check --socket: it must be the App Server control socket.',
  ),
  socket_not_websocket: row(
    'same_request_id',
    'Something listens on the socket but does not speak WebSocket.',
    'Check --socket: it must be the App Server control socket.',
  ),
  socket_silent: row(
    'same_request_id',
    'The socket accepts connections but the App Server does not answer.',
    'The App Server hangs or is stopped: look at its process.',
  ),
  handshake_failed: row(
    'same_request_id',
    'The App Server refused `initialize`.',
    'Compare the versions of Codex and of the bridge (doctor).',
  ),
  connection_lost: row(
    'same_request_id',
    'The connection to the App Server ended before the answer.',
    'Repeat the call; a receipt tells what is known.',
  ),
  request_timeout: row(
    'same_request_id',
    'The App Server did not answer in time.',
    'Look at the load of the App Server, then repeat.',
  ),
  message_too_large: row(
    'fix_call',
    'The message to the App Server would be over 8 MiB.',
    'Send less text in one call.',
  ),
  result_too_large: row(
    'fix_call',
    'One row of the App Server’s answer is larger than 64 MiB.',
    'This item cannot be read through the bridge.',
  ),
  unexpected_answer: row(
    'same_request_id',
    'The App Server answered in a shape that this version of the bridge does not know.',
    'Compare the versions of Codex and of the bridge (doctor).',
  ),

  // What the App Server says
  app_server_error: row(
    'new_request_id',
    'The App Server rejected the call; `details.rpc` has its own words.',
    'Read the App Server’s message; change something, then call again.',
  ),
  server_shutting_down: row(
    'same_request_id',
    'The App Server drains before it stops.',
    'Wait until it is started again, then repeat.',
  ),
  server_overloaded: row(
    'same_request_id',
    'The App Server says that it is overloaded.',
    'Wait a little, then repeat.',
  ),
  thread_owned_elsewhere: row(
    'new_request_id',
    'Another App Server process is the writer of the thread.',
    'Use the App Server that owns the thread, or stop it first.',
  ),
  thread_archived: row(
    'new_request_id',
    'The thread is archived.',
    'Unarchive it first: `codex unarchive THREAD`.',
  ),
  thread_not_materialized: row(
    'new_request_id',
    'The thread has no turn yet and no rollout on disk.',
    'Send it a first message, or create it again.',
  ),
  thread_not_found: row(
    'new_request_id',
    'The App Server cannot find the thread.',
    'Take the id from list_threads or from a receipt.',
  ),
  method_unavailable: row(
    'new_request_id',
    'This App Server does not have the method.',
    'Update Codex; get_capabilities lists what is missing.',
  ),
  input_too_large: row(
    'fix_call',
    'The App Server takes at most 1,048,576 characters in one message.',
    'Shorten the text.',
  ),

  // What a receipt can end with
  thread_busy: row(
    'new_request_id',
    'The thread has a running turn or queued messages.',
    'Wait for it, or repeat with if_busy "steer" or "queue" and a new request_id.',
  ),
  environment_mismatch: row(
    'inspect',
    'The new thread’s environment is not what was asked for; the prompt was withheld.',
    'Compare verifiedEnvironment.differences; the thread is kept.',
  ),
  settings_drifted: row(
    'new_request_id',
    'The thread came back with other settings than it was last known to have; nothing was sent.',
    'Look at the differences. Send again with on_settings_drift "restore" and a new request_id to bring the recorded ones back, or correct the thread.',
  ),
  unsupported_approval_policy: row(
    'new_request_id',
    'The thread’s approval policy would need a person.',
    'Use approval policy "never", or "on-request" with reviewer "auto_review".',
  ),
  permission_profile_unavailable: row(
    'new_request_id',
    'The App Server does not allow the named permission profile.',
    'Use one of the profiles in the message; the operator’s own is set with --default-permissions.',
  ),
  not_sent: row(
    'new_request_id',
    'The action was provably not sent.',
    'Nothing happened on the App Server. Call again with a new request_id.',
  ),
  not_delivered: row(
    'new_request_id',
    'The message is not in the thread, or the new thread is not there, and it can no longer arrive.',
    'Send it again with a new request_id.',
  ),
  not_completed: row(
    'new_request_id',
    'The thread was created, but the steps after it were not all done.',
    'If section/move was answered, message the thread; else create again.',
  ),
  outcome_unknown: row(
    'reconcile',
    'A step was sent and has no answer.',
    'Call get_operation with reconcile: true; never repeat under a new id before that.',
  ),
  interrupted: row(
    'reconcile',
    'The bridge process ended while the action ran.',
    'Call get_operation with reconcile: true.',
  ),

  // Git
  invalid_source_repository: row(
    'fix_call',
    'The source is not the root of an existing checkout, given by its real path, whose Git files Git may read.',
    'Use a checkout that Git can read (main or linked worktree), by the absolute real path of its root.',
  ),
  unknown_revision: row(
    'fix_call',
    'The revision is not the full id of a commit that the source repository has locally.',
    'Pass a full lowercase commit id, from `git rev-parse HEAD` for one. Nothing is fetched: fetch it first.',
  ),
  invalid_destination: row(
    'fix_call',
    'No worktree can be made at the destination: not a real path, no parent directory, or within a repository.',
    'Pass an absolute real path of something that does not exist, in an existing directory outside every repository.',
  ),
  destination_exists: row(
    'fix_call',
    'Something stands at the destination already: a file, a directory or a dangling link. It was not touched.',
    'Pass a path that does not exist.',
  ),
  destination_changed: row(
    'inspect',
    'The destination no longer is the directory that was made for the worktree.',
    'Look at the destination and at `git worktree list` of the source.',
  ),
  checkout_changed: row(
    'inspect',
    'The worktree is not what was made: another root, commit or repository, a branch, no lock, or changes. The prompt was withheld.',
    'Look at the worktree; the message says what differs. It is kept, and so is the thread if there is one.',
  ),
  unsupported_path: row(
    'fix_call',
    'Git names a path whose bytes are not UTF-8.',
    'Use a repository at a path that is UTF-8; files within it may have any name.',
  ),
  git_unsafe: row(
    'fix_call',
    'A Git setting names a program that cannot be switched off.',
    'Remove or rename the setting that the message shows.',
  ),
  git_missing: row(
    'same_request_id',
    'There is no `git` in an absolute directory of the PATH that the bridge was started with.',
    'Install Git, or start the bridge with a PATH that has it.',
  ),
  git_too_old: row(
    'same_request_id',
    'The installed Git is older than the bridge needs.',
    'Install the version that the message names, or a newer one.',
  ),
  git_timeout: row(
    'inspect',
    'A Git command did not end in time and was killed with all that it had started.',
    'Look at the destination and at `git worktree list` of the source; --git-timeout gives more time.',
  ),
  git_failed: row(
    'inspect',
    'A Git command failed; `details` has the command, its exit code and the end of what it said.',
    'Read stderrTail; look at the destination and at `git worktree list` of the source.',
  ),

  // The ledger
  ledger_driver_missing: row(
    'same_request_id',
    'The package better-sqlite3 is not installed.',
    'npm install better-sqlite3',
  ),
  ledger_locked: row(
    'same_request_id',
    'Another process held the ledger locked for 10 s.',
    'Nothing was sent. Look for a process that holds the file, then repeat.',
  ),
  ledger_corrupt: row(
    'same_request_id',
    'The ledger file is damaged.',
    'Nothing was sent. Keep the file, restore a backup or move it away.',
  ),
  ledger_read_only: row(
    'same_request_id',
    'The ledger cannot be written (permissions or a read-only file system).',
    'Nothing was sent. Make the state directory writable.',
  ),
  ledger_full: row(
    'same_request_id',
    'The disk is full; the ledger cannot be written.',
    'Nothing was sent. Free some space, then repeat.',
  ),
  ledger_newer: row(
    'same_request_id',
    'The ledger was written by a newer version of the bridge.',
    'Update the bridge.',
  ),
  ledger_not_private: row(
    'same_request_id',
    'The ledger or its directory belongs to another user or is open to others.',
    'Make it yours alone: chmod 700 the directory, 600 the file.',
  ),
  ledger_import_conflict: row(
    'same_request_id',
    'Two ledgers of this App Server hold the same request_id with different contents.',
    'Nothing was sent. Keep both files; move the one that you do not go by out of the state directory.',
  ),
  backup_failed: row(
    'none',
    'The copy of the ledger could not be written, or was not whole.',
    'Nothing was kept. Give a file that does not exist, in a directory with room.',
  ),
  ledger_unavailable: row(
    'same_request_id',
    'The ledger cannot be opened or written.',
    'Nothing was sent. The message has SQLite’s reason.',
  ),

  // Plugins and the host
  duplicate_tool: row('none', 'Two plugins have a tool of the same name.', 'Load only one of them.'),
  schema_gate: row(
    'none',
    'A tool’s schema uses what MCP hosts reject.',
    'Change the schema as the message says.',
  ),
  unknown_method: row(
    'none',
    'A tool lists an App Server method that core/protocol does not have.',
    'Add it to core/protocol/methods.ts or correct the name.',
  ),
  read_mutates: row('none', 'A read lists a method that changes something.', 'Make it a mutation.'),
  undeclared_method: row(
    'none',
    'A tool called a method that its `uses` does not list.',
    'Add the method to `uses`.',
  ),
  environment_unseen: row(
    'none',
    'A tool fed a thread whose environment the App Server had not reported in the same call.',
    'Call `thread/start` or `thread/resume` for the thread first.',
  ),
  host_state: row(
    'none',
    'The host was used before ready(), or after close().',
    'Register plugins, await ready(), then call.',
  ),
  internal: row('inspect', 'A bug in the bridge or in a plugin.', 'Report it with the message and the log.'),
} as const satisfies Record<string, CodeRow>

export type ErrorCode = keyof typeof errorCodes

const brand = Symbol.for('codex-thread-bridge.BridgeError')

interface BridgeErrorOptions {
  readonly hint?: string
  readonly field?: string
  readonly next?: Next
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** The only error that users see: what happened (`message`), what to do (`hint`), what to call next (`next`). */
export class BridgeError extends Error {
  readonly [brand] = true
  readonly code: ErrorCode
  readonly hint: string
  readonly next: Next
  readonly field: string | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(code: ErrorCode, message: string, options: BridgeErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'BridgeError'
    this.code = code
    this.hint = options.hint ?? errorCodes[code].hint
    this.next = options.next ?? errorCodes[code].next
    this.field = options.field
    this.details = options.details
  }

  /** True also for an error of another copy of this package. */
  static is(value: unknown): value is BridgeError {
    return typeof value === 'object' && value !== null && brand in value
  }
}

/** Whether the bytes of a failed call left: the one fact that decides what a receipt may say. */
export type Delivery = 'not_sent' | 'unknown'

/** A call that has no answer. */
export class TransportError extends BridgeError {
  readonly delivery: Delivery

  constructor(code: ErrorCode, message: string, delivery: Delivery, options: BridgeErrorOptions = {}) {
    super(code, message, options)
    this.name = 'TransportError'
    this.delivery = delivery
  }

  static override is(value: unknown): value is TransportError {
    return BridgeError.is(value) && 'delivery' in value
  }
}

/** The App Server's own error object, unchanged. */
export interface RpcErrorBody {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** A call that the App Server answered with an error. */
export class AppServerError extends BridgeError {
  readonly rpc: RpcErrorBody

  constructor(code: ErrorCode, method: string, rpc: RpcErrorBody) {
    super(code, `${method}: ${rpc.message}`, { details: { method, rpc } })
    this.name = 'AppServerError'
    this.rpc = rpc
  }

  static override is(value: unknown): value is AppServerError {
    return BridgeError.is(value) && 'rpc' in value
  }
}

/** Anything thrown, as a BridgeError. */
export const asBridgeError = (error: unknown): BridgeError =>
  BridgeError.is(error)
    ? error
    : new BridgeError('internal', error instanceof Error ? error.message : String(error), { cause: error })
