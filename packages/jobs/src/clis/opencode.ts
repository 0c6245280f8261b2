import type { SandboxName } from '@codex-thread-bridge/core/protocol'
import { at, numberAt, shown, textAt, type JsonEvent } from '../output/json-event.ts'
import { summaryOf, type JobEvent } from '../output/events.ts'
import { jsonLineReader } from '../output/json-lines.ts'
import { runError, setMessage, setTool, type Reading } from '../output/reading.ts'
import { judgeByClosing, type Cli, type RunRequest } from './cli.ts'

const args = ({ access, model, sessionId, workFolder }: RunRequest): readonly string[] => [
  'run',
  '--format',
  'json',
  '--dir',
  workFolder,
  ...(access === 'danger-full-access' ? ['--auto'] : []),
  ...(model === undefined ? [] : ['--model', model]),
  ...(sessionId === undefined ? [] : ['--session', sessionId]),
]

/** Its own configuration lets a run do nearly everything unasked, so what is not allowed is denied by name. */
const permissions: Readonly<Record<Exclude<SandboxName, 'danger-full-access'>, object>> = {
  'read-only': {
    edit: 'deny',
    bash: 'deny',
    webfetch: 'deny',
    websearch: 'deny',
    external_directory: 'deny',
  },
  'workspace-write': {
    edit: 'allow',
    bash: 'deny',
    webfetch: 'deny',
    websearch: 'deny',
    external_directory: 'deny',
  },
}

const environment = ({ access }: RunRequest): Readonly<Record<string, string>> =>
  access === 'danger-full-access' ? {} : { OPENCODE_PERMISSION: JSON.stringify(permissions[access]) }

const isoOf = (ms: number | undefined, now: string): string =>
  ms === undefined || Math.abs(ms) > 8.64e15 ? now : new Date(ms).toISOString()

const takeTool = (reading: Reading, part: unknown, ts: string): readonly JobEvent[] => {
  const id = textAt(part, 'callID')
  const told = textAt(part, 'state', 'status')
  if (id === undefined) return []
  const tool = textAt(part, 'tool') ?? 'tool'
  const exitCode = numberAt(part, 'state', 'metadata', 'exit')
  const begin = numberAt(part, 'state', 'time', 'start')
  const end = numberAt(part, 'state', 'time', 'end')
  const durationMs = begin === undefined || end === undefined ? undefined : end - begin
  const status = told === 'error' ? 'failed' : 'completed'
  const input = shown(at(part, 'state', 'input'))
  setTool(reading, {
    id,
    tool,
    status,
    input,
    output: shown(at(part, 'state', 'output') ?? at(part, 'state', 'error')),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(durationMs === undefined ? {} : { durationMs }),
  })
  return [
    {
      kind: 'tool_call',
      ts,
      tool,
      phase: status,
      summary: summaryOf(textAt(part, 'state', 'title') ?? input),
      id,
      ...(told === undefined ? {} : { status: told }),
      ...(exitCode === undefined ? {} : { exit_code: exitCode }),
      ...(durationMs === undefined ? {} : { duration_ms: durationMs }),
    },
  ]
}

/** Tokens and cost are those of one step: the run's are their sum. */
const takeStep = (reading: Reading, part: unknown): void => {
  const tokens = (...path: readonly string[]): number => numberAt(part, 'tokens', ...path) ?? 0
  const cached = tokens('cache', 'read')
  const written = tokens('cache', 'write')
  const input = tokens('input') + cached + written
  const output = tokens('output')
  const before = reading.usage
  reading.usage = {
    inputTokens: (before?.inputTokens ?? 0) + input,
    cachedInputTokens: (before?.cachedInputTokens ?? 0) + cached,
    cacheWriteTokens: (before?.cacheWriteTokens ?? 0) + written,
    outputTokens: (before?.outputTokens ?? 0) + output,
    reasoningTokens: (before?.reasoningTokens ?? 0) + tokens('reasoning'),
    totalTokens: (before?.totalTokens ?? 0) + input + output,
  }
  reading.costUsd = (reading.costUsd ?? 0) + (numberAt(part, 'cost') ?? 0)
  reading.closed = textAt(part, 'reason') === 'tool-calls' ? null : 'success'
}

const takeError = (reading: Reading, event: JsonEvent): void => {
  const message =
    textAt(event, 'error', 'data', 'message') ?? textAt(event, 'error', 'name') ?? 'The run failed.'
  reading.error = runError(message, numberAt(event, 'error', 'data', 'statusCode'))
  reading.closed = 'error'
}

const take = (reading: Reading, event: JsonEvent, now: string): readonly JobEvent[] => {
  const ts = isoOf(numberAt(event, 'timestamp'), now)
  reading.sessionId = textAt(event, 'sessionID') ?? reading.sessionId
  switch (textAt(event, 'type')) {
    case 'step_start':
      if (reading.closed === 'success') reading.closed = null
      return []
    case 'text': {
      const text = textAt(event, 'part', 'text') ?? ''
      setMessage(reading, text, textAt(event, 'part', 'messageID') ?? null)
      return [{ kind: 'message', ts, text }]
    }
    case 'tool_use':
      return takeTool(reading, event.part, ts)
    case 'step_finish':
      takeStep(reading, event.part)
      return []
    case 'error':
      takeError(reading, event)
      return []
    default:
      return []
  }
}

/** OpenCode: `opencode run --format json`. Seen running: 1.18.33. */
export const opencode: Cli = {
  agent: 'opencode',
  title: 'OpenCode',
  variable: 'OPENCODE_CLI_NAME',
  command: 'opencode',
  variables: /^OPENCODE_(?!CLI_NAME$|PERMISSION$)\w+$/,
  efforts: [],
  models: ['opencode'],
  session: /^ses_[A-Za-z0-9]{1,64}$/,
  stopSignal: 'SIGTERM',
  output: 'events',
  args,
  environment,
  readLine: jsonLineReader(take),
  judge: (reading, exit) => judgeByClosing('OpenCode', reading, exit),
}
