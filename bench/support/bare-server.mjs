// What `startup` and `memory` compare with: the SDK's low-level server and nine tools that do nothing. Plain JavaScript,
// so that no loader stands between it and Node.
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const tools = Array.from({ length: 9 }, (_, place) => ({
  name: `tool_${place}`,
  description: 'Does nothing.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false },
}))

const server = new Server({ name: 'bare', version: '0.0.0' }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
server.setRequestHandler(CallToolRequestSchema, () => ({ content: [{ type: 'text', text: 'ok' }] }))
await server.connect(new StdioServerTransport())
