import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const server = new Server({ name: 'tiny', version: '0.0.0' }, { capabilities: { tools: {} } })

let goOn = () => undefined

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: ['echo', 'fail', 'progress', 'go_on', 'wait', 'env'].map((name) => ({
    name,
    inputSchema: { type: 'object' },
  })),
}))

server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
  if (params.name === 'echo') return ok({ arguments: params.arguments, meta: params._meta ?? null })
  if (params.name === 'env') return ok({ ...process.env })
  if (params.name === 'fail') {
    const error = { code: 'no_luck', message: 'No luck.', hint: 'Try another.', next: 'fix_call' }
    return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error }) }] }
  }
  if (params.name === 'progress') {
    const progressToken = params._meta.progressToken
    await extra.sendNotification({
      method: 'notifications/progress',
      params: { progressToken, progress: 1, message: 'half' },
    })
    // The SDK's client forgets the token with the answer, so that one waits until the progress was heard.
    await new Promise((resolve) => (goOn = resolve))
    return ok({})
  }
  if (params.name === 'go_on') return ok({ wentOn: goOn() ?? null })
  process.stderr.write('waiting\n')
  await new Promise((resolve) => extra.signal.addEventListener('abort', resolve))
  process.stderr.write('cancelled\n')
  return ok({})
})

function ok(structuredContent) {
  return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] }
}

await server.connect(new StdioServerTransport())
