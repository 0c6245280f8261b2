import type { Item } from '@codex-thread-bridge/core/protocol'
import { cutText } from '@codex-thread-bridge/core/threads'
import { asText, fieldsOf, listOf, pick, textsOf, type Fields } from './item-fields.ts'

export interface Showing {
  /** Whether outputs are shown at all. */
  readonly outputs: boolean
  /** How many characters of output one item may have, all its outputs together. */
  readonly maxOutputChars: number
}

/** An item as this family shows it. */
export type ShownItem = Item & Fields

/** A part of a content list in words: texts as they are, images and the like by their size alone. */
const contentText = (part: unknown): string => {
  const { type, text } = fieldsOf(part)
  if (typeof part === 'string') return part
  return typeof text === 'string'
    ? text
    : `[${typeof type === 'string' ? type : 'content'}: ${asText(part).length.toLocaleString('en-US')} characters, not shown]`
}

/** A member of a user's message; an image by its place, or, where it is in the message itself, by its size. */
const inputPart = (part: unknown): Fields => {
  const fields = fieldsOf(part)
  const { type, text, url } = fields
  if (typeof text === 'string') return { type, text }
  if (typeof url !== 'string') return pick(fields, 'type', 'name', 'path')
  return url.startsWith('data:') ? { type, originalChars: url.length } : { type, url }
}

type Shape = (item: Fields, output: (text: string) => Fields | undefined) => Fields

const given = (members: Fields): Fields =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

const contents = (value: unknown): string => listOf(value).map(contentText).join('\n')

/** What of each type of item is shown; every other type by its type and id. */
const shapes: Readonly<Record<string, Shape>> = {
  userMessage: ({ content }) => ({ content: listOf(content).map(inputPart) }),
  agentMessage: (item) => pick(item, 'text', 'phase'),
  plan: (item) => pick(item, 'text'),
  reasoning: ({ summary, content }, output) =>
    given({ summary: textsOf(summary), content: output(textsOf(content).join('\n')) }),
  commandExecution: (item, output) =>
    given({
      ...pick(item, 'command', 'cwd', 'status', 'exitCode', 'durationMs'),
      output: output(asText(item.aggregatedOutput ?? '')),
    }),
  fileChange: ({ status, changes }, output) => ({
    status,
    changes: listOf(changes).map((change) => {
      const { path, kind, diff } = fieldsOf(change)
      return given({ path, kind: fieldsOf(kind).type ?? kind, diff: output(asText(diff ?? '')) })
    }),
  }),
  mcpToolCall: (item, output) =>
    given({
      ...pick(item, 'server', 'tool', 'status', 'durationMs'),
      error: fieldsOf(item.error).message,
      arguments: output(asText(item.arguments)),
      output: output(contents(fieldsOf(item.result).content)),
    }),
  dynamicToolCall: (item, output) =>
    given({
      ...pick(item, 'namespace', 'tool', 'status', 'success', 'durationMs'),
      arguments: output(asText(item.arguments)),
      output: output(contents(item.contentItems)),
    }),
  collabAgentToolCall: (item) =>
    pick(item, 'tool', 'status', 'senderThreadId', 'receiverThreadIds', 'prompt'),
  webSearch: (item) => ({ ...pick(item, 'query'), action: fieldsOf(item.action).type ?? null }),
  imageView: (item) => pick(item, 'path'),
  // An image is of no use cut: only its size is told.
  imageGeneration: (item, output) =>
    given({
      ...pick(item, 'status', 'revisedPrompt', 'savedPath'),
      image: output('') && { text: '', truncated: true, originalChars: asText(item.result ?? '').length },
    }),
  functionCallOutput: (item, output) =>
    given({
      ...pick(item, 'namespace', 'name'),
      output: output(typeof item.output === 'string' ? item.output : contents(item.output)),
    }),
  enteredReviewMode: (item) => pick(item, 'review'),
  exitedReviewMode: (item) => pick(item, 'review'),
  contextCompaction: () => ({}),
}

/** An item as its type is shown, its outputs within the limit, images never. */
export const showItem = (item: Item, { outputs, maxOutputChars }: Showing): ShownItem => {
  let left = maxOutputChars
  const output = (text: string): Fields | undefined => {
    if (!outputs) return undefined
    const cut = cutText(text, left)
    left = Math.max(0, left - cut.originalChars)
    return cut
  }
  return { type: item.type, id: item.id, ...shapes[item.type]?.({ ...item }, output) }
}
