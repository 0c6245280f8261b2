import { at, listAt, numberAt, shown, textAt, type JsonEvent } from '../output/json-event.ts'
import { summaryOf, type JobEvent } from '../output/events.ts'
import { jsonLineReader } from '../output/json-lines.ts'
import { runError, setMessage, setTool, type Reading, type ToolUse } from '../output/reading.ts'
import { judgeByClosing, type Cli, type RunRequest } from './cli.ts'

/** What workspace-write means, whatever the user's configuration adds to it. */
const PLAIN_WORKSPACE = [
  'sandbox_workspace_write.network_access=false',
  'sandbox_workspace_write.writable_roots=[]',
  'sandbox_workspace_write.exclude_tmpdir_env_var=false',
  'sandbox_workspace_write.exclude_slash_tmp=false',
].flatMap((setting) => ['-c', setting])

const args = ({ access, effort, model, sessionId }: RunRequest): readonly string[] => [
  'exec',
  '--json',
  '--skip-git-repo-check',
  '--sandbox',
  access,
  ...(access === 'workspace-write' ? PLAIN_WORKSPACE : []),
  ...(effort === undefined ? [] : ['-c', `model_reasoning_effort=${JSON.stringify(effort)}`]),
  ...(model === undefined ? [] : ['--model', model]),
  ...(sessionId === undefined ? ['-'] : ['resume', sessionId, '-']),
]

/** The HTTP status that stands in the text of an error. */
const statusIn = (message: string): number | undefined => {
  const found = /\bstatus (\d{3})\b/.exec(message)?.[1]
  return found === undefined ? undefined : Number(found)
}

const toolOf = (item: unknown): Pick<ToolUse, 'tool' | 'input' | 'output'> | undefined => {
  switch (textAt(item, 'type')) {
    case 'command_execution':
      return {
        tool: 'shell',
        input: shown(at(item, 'command')),
        output: shown(at(item, 'aggregated_output')),
      }
    case 'mcp_tool_call':
      return {
        tool: [textAt(item, 'server'), textAt(item, 'tool')].filter((part) => part !== undefined).join('.'),
        input: shown(at(item, 'arguments')),
        output: shown(at(item, 'result') ?? at(item, 'error')),
      }
    case 'file_change':
      return {
        tool: 'file_change',
        input: listAt(item, 'changes')
          .map((change) => `${textAt(change, 'kind') ?? 'change'} ${textAt(change, 'path') ?? ''}`)
          .join(', '),
      }
    case 'web_search':
      return { tool: 'web_search', input: shown(at(item, 'query')) }
    default:
      return undefined
  }
}

const takeTool = (reading: Reading, item: unknown, done: boolean, ts: string): readonly JobEvent[] => {
  const found = toolOf(item)
  const id = textAt(item, 'id')
  if (found === undefined || id === undefined) return []
  const told = textAt(item, 'status')
  const status = !done ? 'running' : told === 'failed' || told === 'declined' ? 'failed' : 'completed'
  const exitCode = numberAt(item, 'exit_code')
  const { output, ...what } = found
  setTool(reading, {
    id,
    ...what,
    status,
    ...(done && output !== undefined ? { output } : {}),
    ...(exitCode === undefined ? {} : { exitCode }),
  })
  return [
    {
      kind: 'tool_call',
      ts,
      tool: found.tool,
      phase: status === 'running' ? 'started' : status,
      summary: summaryOf(found.input),
      id,
      ...(told === undefined ? {} : { status: told }),
      ...(exitCode === undefined ? {} : { exit_code: exitCode }),
    },
  ]
}

const takeUsage = (reading: Reading, event: JsonEvent): void => {
  const tokens = (name: string): number => numberAt(event, 'usage', name) ?? 0
  const inputTokens = tokens('input_tokens')
  const outputTokens = tokens('output_tokens')
  reading.usage = {
    inputTokens,
    cachedInputTokens: tokens('cached_input_tokens'),
    cacheWriteTokens: tokens('cache_write_input_tokens'),
    outputTokens,
    reasoningTokens: tokens('reasoning_output_tokens'),
    totalTokens: inputTokens + outputTokens,
  }
}

const failed = (reading: Reading, message: string): void => {
  reading.error = runError(message, statusIn(message))
}

const take = (reading: Reading, event: JsonEvent, now: string): readonly JobEvent[] => {
  switch (textAt(event, 'type')) {
    case 'thread.started':
      reading.sessionId = textAt(event, 'thread_id') ?? reading.sessionId
      return []
    case 'turn.started':
      reading.closed = null
      return []
    case 'item.started':
      return takeTool(reading, event.item, false, now)
    case 'item.completed': {
      // An item of type error is a warning: the turn goes on.
      const text = textAt(event, 'item', 'text')
      if (textAt(event, 'item', 'type') !== 'agent_message') return takeTool(reading, event.item, true, now)
      if (text === undefined) return []
      setMessage(reading, text)
      return [{ kind: 'message', ts: now, text }]
    }
    case 'turn.completed':
      takeUsage(reading, event)
      reading.closed = 'success'
      reading.error = null
      return []
    case 'turn.failed':
      reading.closed = 'error'
      failed(reading, textAt(event, 'error', 'message') ?? 'The turn failed.')
      return []
    case 'error':
      failed(reading, textAt(event, 'message') ?? 'An error without a message.')
      return []
    default:
      return []
  }
}

/** Codex: `codex exec --json`. Seen running: 0.171.0. */
export const codex: Cli = {
  agent: 'codex',
  title: 'Codex',
  variable: 'CODEX_CLI_NAME',
  command: 'codex',
  localPath: '.codex/local/codex',
  variables: /^(CODEX_(HOME|API_KEY|ACCESS_TOKEN|CA_CERTIFICATE)|OPENAI_\w+)$/,
  efforts: ['low', 'medium', 'high', 'xhigh'],
  models: ['gpt-5.4', 'gpt-5.5', 'gpt-5.4-mini', 'gpt-5.3-codex', 'gpt-5.3-codex-spark', 'gpt-5.2'],
  session: /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/,
  // Only an interrupt makes it end the tools that it runs, each in a session of its own.
  stopSignal: 'SIGINT',
  output: 'events',
  args,
  readLine: jsonLineReader(take),
  judge: (reading, exit) => judgeByClosing('Codex', reading, exit),
}
