import { at, listAt } from '../json.ts'

export interface ToolOutput {
  readonly callId: string
  readonly output: string
}

/** One POST to /v1/responses, as sent by the agent. */
export interface ModelRequest {
  /** 1 for the first request to this model. */
  readonly number: number
  /** The parsed JSON body. */
  readonly body: unknown
  /** Of the thread whose turn asks; '' if it is not told. */
  readonly threadId: string
  readonly input: readonly unknown[]
  readonly tools: readonly unknown[]
  /** The user's texts of the whole conversation, without what the agent puts in by itself. */
  readonly userTexts: readonly string[]
  /** '' if there is none. */
  readonly lastUserText: string
  /** Results of the tools that ran since the last user text. */
  readonly toolOutputs: readonly ToolOutput[]
}

export function modelRequest(number: number, body: unknown, threadId: string): ModelRequest {
  const input = listAt(body, 'input')
  const tools = at(body, 'tools')
  const userTexts = input.flatMap(userTextsOf)
  return {
    number,
    body,
    threadId,
    input,
    tools: Array.isArray(tools) ? tools : [],
    userTexts,
    lastUserText: userTexts.at(-1) ?? '',
    toolOutputs: sinceLastUserText(input).flatMap(toolOutputOf),
  }
}

function userTextsOf(item: unknown): string[] {
  if (at(item, 'role') !== 'user') return []
  return textsOf(at(item, 'content')).filter((text) => !isContext(text))
}

const contextTags = [
  'environment_context',
  'turn_aborted',
  'codex_internal_context',
  'subagent_notification',
  'skill',
]

/** The agent tells the model of its surroundings, of AGENTS.md and of its goal in the user's name. */
function isContext(text: string): boolean {
  const tag = /^<(\w+)/.exec(text)?.[1]
  return (tag !== undefined && contextTags.includes(tag)) || text.startsWith('# AGENTS.md instructions')
}

function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content]
  if (!Array.isArray(content)) return []
  return content.flatMap((part: unknown) => {
    const text = at(part, 'text')
    return typeof text === 'string' ? [text] : []
  })
}

function sinceLastUserText(input: readonly unknown[]): readonly unknown[] {
  return input.slice(input.findLastIndex((item) => userTextsOf(item).length > 0) + 1)
}

function toolOutputOf(item: unknown): ToolOutput[] {
  const callId = at(item, 'call_id')
  if (at(item, 'type') !== 'function_call_output' || typeof callId !== 'string') return []
  const output = at(item, 'output')
  return [{ callId, output: textsOf(output).join('') }]
}
