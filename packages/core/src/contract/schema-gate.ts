import { BridgeError } from './errors.ts'
import type { AnyTool } from './tool.ts'

const NAME = /^[a-z][a-z0-9_]*$/
/** Server and tool name together have at most 57 characters; `codex-thread-bridge` takes 19 of them. */
const NAME_MAX = 38
const DESCRIPTION_MAX = 1_000
const BANNED_IN_INPUT = [
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  '$ref',
  '$defs',
  'patternProperties',
  'prefixItems',
  'propertyNames',
  'const',
  'format',
] as const

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The first thing in an input schema that some MCP host rejects, or undefined. */
const inputFault = (schema: unknown, at: string): string | undefined => {
  if (!isRecord(schema)) return `${at} is no schema object`
  const banned = BANNED_IN_INPUT.find((keyword) => keyword in schema)
  if (banned !== undefined) return `${at} uses ${banned}`
  if (typeof schema.type !== 'string') return `${at} has no single type`
  if (schema.type === 'null') return `${at} is a null type`
  if (schema.type === 'array') return inputFault(schema.items, `${at}[]`)
  if (schema.type !== 'object') return undefined
  if (schema.additionalProperties !== false) return `${at} is open: set additionalProperties: false`
  if (!isRecord(schema.properties)) return `${at} has no properties`
  for (const [key, member] of Object.entries(schema.properties)) {
    const where = `${at}.${key}`
    if (!isRecord(member) || typeof member.description !== 'string') return `${where} has no description`
    const fault = inputFault(member, where)
    if (fault !== undefined) return fault
  }
  return undefined
}

const toolFault = (tool: AnyTool): string | undefined => {
  if (!NAME.test(tool.name) || tool.name.length > NAME_MAX)
    return `name must be snake_case and at most ${NAME_MAX} long`
  if (tool.title.trim() === '') return 'title is empty'
  if (tool.description.trim() === '') return 'description is empty'
  if (tool.description.length > DESCRIPTION_MAX) return `description has over ${DESCRIPTION_MAX} characters`
  if (tool.examples.length === 0) return 'it has no example'
  if (!isRecord(tool.output) || tool.output.type !== 'object') return 'output is no object'
  return inputFault(tool.input, 'input')
}

/**
 * Refuses a tool that some MCP host would drop or break on (design: mcp-hosts, schema gate).
 * @throws BridgeError schema_gate
 */
export const checkSchemaGate = (tool: AnyTool): void => {
  const fault = toolFault(tool)
  if (fault !== undefined) throw new BridgeError('schema_gate', `Tool ${tool.name}: ${fault}.`)
}
