import { at, isRecord, listAt, numberAt, shown, textAt, type JsonEvent } from '../output/json-event.ts'
import { summaryOf, type JobEvent } from '../output/events.ts'
import { jsonLineReader } from '../output/json-lines.ts'
import { runError, setMessage, setTool, type Reading } from '../output/reading.ts'
import { judgeByClosing, type Cli, type RunRequest } from './cli.ts'

const permissionModes = {
  'read-only': 'plan',
  'workspace-write': 'acceptEdits',
  'danger-full-access': 'bypassPermissions',
} as const

/** Plan mode alone lets a tool run that the user's own settings allow: what could write or reach out is denied by name. */
const READ_ONLY = [
  '--disallowedTools',
  'Bash,Edit,Write,NotebookEdit,WebFetch,WebSearch',
  '--strict-mcp-config',
]

const args = ({ access, effort, model, sessionId }: RunRequest): readonly string[] => [
  '-p',
  '--output-format',
  'stream-json',
  '--verbose',
  '--permission-mode',
  permissionModes[access],
  ...(access === 'read-only' ? READ_ONLY : []),
  ...(model === undefined ? [] : ['--model', model]),
  ...(effort === undefined ? [] : ['--effort', effort]),
  ...(sessionId === undefined ? [] : ['-r', sessionId, '--fork-session']),
]

/** Text that the CLI put in place of an answer of the model. */
const SYNTHETIC = '<synthetic>'

const takeBlock = (reading: Reading, event: JsonEvent, block: unknown, ts: string): readonly JobEvent[] => {
  const type = textAt(block, 'type')
  if (type === 'text') {
    const text = textAt(block, 'text') ?? ''
    // A sub-agent's words are not the answer.
    if (textAt(event, 'parent_tool_use_id') === undefined)
      setMessage(reading, text, textAt(event, 'message', 'id') ?? null)
    return [{ kind: 'message', ts, text }]
  }
  const id = textAt(block, 'id')
  if (type !== 'tool_use' || id === undefined) return []
  const tool = textAt(block, 'name') ?? 'tool'
  const input = at(block, 'input')
  setTool(reading, { id, tool, status: 'running', input: shown(input) })
  return [{ kind: 'tool_call', ts, tool, phase: 'started', summary: summaryOf(summaryInput(input)), id }]
}

/** What a person would call the tool's task: a command, a path, a pattern; else all of it. */
const summaryInput = (input: unknown): string => {
  const telling = ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'description', 'prompt']
  return telling.map((name) => textAt(input, name)).find((text) => text !== undefined) ?? shown(input)
}

const resultText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part) => textAt(part, 'text') ?? '').join('')
      : shown(content)

const takeToolResult = (reading: Reading, block: unknown, ts: string): readonly JobEvent[] => {
  const id = textAt(block, 'tool_use_id')
  if (textAt(block, 'type') !== 'tool_result' || id === undefined) return []
  const known = reading.tools.find((use) => use.id === id)
  const status = at(block, 'is_error') === true ? 'failed' : 'completed'
  const tool = known?.tool ?? 'tool'
  setTool(reading, { id, tool, input: known?.input ?? '', status, output: resultText(at(block, 'content')) })
  return [{ kind: 'tool_call', ts, tool, phase: status, summary: summaryOf(inputWords(known?.input)), id }]
}

/** The summary of an input that is kept as JSON. */
const inputWords = (input = ''): string => {
  try {
    return summaryInput(JSON.parse(input))
  } catch {
    return input
  }
}

const takeUsage = (reading: Reading, event: JsonEvent): void => {
  if (!isRecord(event.usage)) return
  const tokens = (name: string): number => numberAt(event, 'usage', name) ?? 0
  const cachedInputTokens = tokens('cache_read_input_tokens')
  const cacheWriteTokens = tokens('cache_creation_input_tokens')
  const inputTokens = tokens('input_tokens') + cachedInputTokens + cacheWriteTokens
  const outputTokens = tokens('output_tokens')
  reading.usage = {
    inputTokens,
    cachedInputTokens,
    cacheWriteTokens,
    outputTokens,
    reasoningTokens: 0,
    totalTokens: inputTokens + outputTokens,
  }
  reading.costUsd = numberAt(event, 'total_cost_usd') ?? reading.costUsd
}

/** `is_error` decides: a failed API call has the subtype `success`. */
const takeResult = (reading: Reading, event: JsonEvent): void => {
  takeUsage(reading, event)
  const text = textAt(event, 'result')
  reading.retrying = null
  if (event.is_error === false) {
    if (text !== undefined) setMessage(reading, text)
    reading.closed = 'success'
    reading.error = null
    return
  }
  const told = [text, ...listAt(event, 'errors').map(shown)].filter(
    (part) => part !== undefined && part !== '',
  )
  const aborted = textAt(event, 'terminal_reason')?.startsWith('aborted') === true
  const error = runError(told.join('\n') || 'The run failed.', numberAt(event, 'api_error_status'))
  reading.error = aborted ? { ...error, kind: 'aborted' } : error
  reading.closed = 'error'
}

const takeRetry = (reading: Reading, event: JsonEvent): void => {
  const words = `${textAt(event, 'error') ?? 'error'}, attempt ${shown(event.attempt)} of ${shown(event.max_retries)}`
  reading.retrying = runError(words, numberAt(event, 'error_status'))
}

const take = (reading: Reading, event: JsonEvent, now: string): readonly JobEvent[] => {
  const ts = textAt(event, 'timestamp') ?? now
  switch (textAt(event, 'type')) {
    case 'system':
      if (event.subtype === 'api_retry') takeRetry(reading, event)
      if (event.subtype === 'init') {
        reading.sessionId = textAt(event, 'session_id') ?? reading.sessionId
        reading.model = textAt(event, 'model') ?? reading.model
      }
      return []
    case 'assistant':
      reading.retrying = null
      if (textAt(event, 'message', 'model') === SYNTHETIC) return []
      return listAt(event, 'message', 'content').flatMap((block) => takeBlock(reading, event, block, ts))
    case 'user':
      return listAt(event, 'message', 'content').flatMap((block) => takeToolResult(reading, block, ts))
    case 'result':
      reading.sessionId ??= textAt(event, 'session_id') ?? null
      takeResult(reading, event)
      return []
    default:
      return []
  }
}

/** Claude Code: `claude -p --output-format stream-json`. Seen running: 2.1.197. */
export const claude: Cli = {
  agent: 'claude',
  title: 'Claude Code',
  variable: 'CLAUDE_CLI_NAME',
  command: 'claude',
  localPath: '.claude/local/claude',
  // Not those that tell a claude that it runs inside another one.
  variables:
    /^(ANTHROPIC_\w+|CLAUDE_(?!CLI_NAME$|CODE_ENTRYPOINT$|CODE_SSE_PORT$|CODE_SESSION_ID$)\w+|DISABLE_\w+|MAX_THINKING_TOKENS|IS_SANDBOX)$/,
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  models: [
    'sonnet',
    'sonnet[1m]',
    'deepseek-v4-pro[1m]',
    'deepseek-v4-flash[1m]',
    'glm-5.1',
    'opus',
    'opusplan',
    'haiku',
  ],
  session: /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/,
  // On SIGTERM a run may still end as a success, with its tool alive.
  stopSignal: 'SIGINT',
  output: 'events',
  refuseAccess: (access, isRoot) =>
    access === 'danger-full-access' && isRoot
      ? 'Claude Code refuses to run as root without its permission checks'
      : undefined,
  args,
  readLine: jsonLineReader(take),
  judge: (reading, exit) => judgeByClosing('Claude Code', reading, exit),
}
