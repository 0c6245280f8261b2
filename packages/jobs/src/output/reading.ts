import { Type, type Static } from 'typebox'

const Str = Type.String()
const orNull = <const T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])

/** What a run used, in one shape for all CLIs: tokens that came from a cache are part of inputTokens. */
export const Usage = Type.Object({
  inputTokens: Type.Number(),
  cachedInputTokens: Type.Number(),
  cacheWriteTokens: Type.Number(),
  outputTokens: Type.Number(),
  reasoningTokens: Type.Number(),
  totalTokens: Type.Number(),
})
export type Usage = Static<typeof Usage>

export const errorKinds = [
  'output_limit',
  'auth',
  'rate_limit',
  'server',
  'session',
  'aborted',
  'no_closing_event',
  'other',
] as const

/** What went wrong, in one shape for all CLIs. */
export const RunError = Type.Object({
  kind: Type.Enum([...errorKinds], { type: 'string' }),
  message: Str,
  /** The HTTP status of the model's server, where it is told. */
  statusCode: Type.Optional(Type.Number()),
})
export type RunError = Static<typeof RunError>

/** One use of a tool by the agent. */
export const ToolUse = Type.Object({
  id: Str,
  tool: Str,
  status: Type.Enum(['running', 'completed', 'failed'], { type: 'string' }),
  input: Str,
  output: Type.Optional(Str),
  exitCode: Type.Optional(Type.Number()),
  durationMs: Type.Optional(Type.Number()),
})
export type ToolUse = Static<typeof ToolUse>

/** All that is known from a job's output up to `offset`; JSON, so that the reading goes on in another process. */
export const Reading = Type.Object({
  /** Where the first line starts that is not read yet, in bytes. */
  offset: Type.Number(),
  /** Where the output ended when the job did; left out while it runs. What is written behind it is not read. */
  end: Type.Optional(Type.Number()),
  lines: Type.Number(),
  /** Lines that are no event of the CLI, and the beginning of the last of them. */
  strangeLines: Type.Number(),
  strangeText: Str,
  sessionId: orNull(Str),
  model: orNull(Str),
  /** The last complete message of the agent. */
  message: orNull(Str),
  /** Which message of the CLI it is from: parts of the same one are joined. */
  messageOf: orNull(Str),
  /** A message that is still being written (text output). */
  openMessage: orNull(Str),
  usage: orNull(Usage),
  costUsd: orNull(Type.Number()),
  error: orNull(RunError),
  /** What the CLI said at last of how it ended; null while it has not. */
  closed: orNull(Type.Enum(['success', 'error'], { type: 'string' })),
  /** Why the CLI repeats a request to its model; an error once it has given up. */
  retrying: orNull(RunError),
  /** The newest. */
  tools: Type.Array(ToolUse),
  toolCount: Type.Number(),
})
export type Reading = Static<typeof Reading>

export const newReading = (): Reading => ({
  offset: 0,
  lines: 0,
  strangeLines: 0,
  strangeText: '',
  sessionId: null,
  model: null,
  message: null,
  messageOf: null,
  openMessage: null,
  usage: null,
  costUsd: null,
  error: null,
  closed: null,
  retrying: null,
  tools: [],
  toolCount: 0,
})

/** The beginning of a text, in whole characters. */
export const firstCharacters = (text: string, max: number): string => {
  if (text.length <= max) return text
  const last = text.charCodeAt(max - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max)
}

/** Longer messages keep their beginning; the whole is in the raw output. In characters. */
const MESSAGE_MAX = 1_048_576
const TOOLS_KEPT = 100
const TOOL_TEXT_MAX = 2_000

/** What is full stays as it is: to join a line to it and to cut it off again would copy all of it, line for line. */
const joined = (before: string | null, text: string): string => {
  if (before === null) return firstCharacters(text, MESSAGE_MAX)
  return before.length >= MESSAGE_MAX - 1 ? before : firstCharacters(`${before}\n${text}`, MESSAGE_MAX)
}

/** A message of the agent, or a further part of the message `of`. */
export const setMessage = (reading: Reading, text: string, of: string | null = null): void => {
  reading.message = joined(of !== null && of === reading.messageOf ? reading.message : null, text)
  reading.messageOf = of
}

export const addOpenText = (reading: Reading, line: string): void => {
  reading.openMessage = joined(reading.openMessage, line)
}

const clipped = (text: string): string => firstCharacters(text, TOOL_TEXT_MAX)

/** A tool use that began, or the end of one that began earlier. */
export const setTool = (reading: Reading, use: ToolUse): void => {
  const known = reading.tools.findIndex(({ id }) => id === use.id)
  const kept: ToolUse = {
    ...use,
    input: clipped(use.input),
    ...(use.output === undefined ? {} : { output: clipped(use.output) }),
  }
  if (known >= 0) {
    reading.tools[known] = kept
    return
  }
  reading.toolCount += 1
  reading.tools.push(kept)
  if (reading.tools.length > TOOLS_KEPT) reading.tools.shift()
}

/** The kind of an error by the HTTP status that the model's server answered with. */
export const kindOfStatus = (status: number | undefined): RunError['kind'] => {
  if (status === 401 || status === 403) return 'auth'
  if (status === 429) return 'rate_limit'
  return status !== undefined && status >= 500 ? 'server' : 'other'
}

export const runError = (message: string, statusCode?: number): RunError => ({
  kind: kindOfStatus(statusCode),
  message,
  ...(statusCode === undefined ? {} : { statusCode }),
})
