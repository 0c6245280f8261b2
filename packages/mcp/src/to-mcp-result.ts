import { BridgeError } from '@codex-thread-bridge/core/contract'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A tool's answer: `structuredContent`, and one text item that is exactly its JSON.
 * @throws BridgeError internal for a value that is no object: MCP has no other structured answers
 */
export const toMcpResult = (value: unknown): CallToolResult => {
  if (!isRecord(value)) throw new BridgeError('internal', 'A tool answered with something that is no object.')
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value }
}

/**
 * A call that could not be carried out, as text JSON {error: {code, message, hint, field?, next}}. Without
 * `structuredContent`: clients would hold it against the tool's output schema and lose the error.
 */
export const toMcpError = ({ code, message, hint, field, next }: BridgeError): CallToolResult => {
  const error = { code, message, hint, ...(field === undefined ? {} : { field }), next }
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error }) }] }
}
