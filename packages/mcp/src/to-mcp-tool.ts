import { annotationsOf, type AnyTool } from '@codex-thread-bridge/core/contract'
import type { Tool } from '@modelcontextprotocol/sdk/types.js'

/** A tool as `tools/list` shows it. Its schemas go out as they are: they are JSON Schema already. */
export const toMcpTool = (tool: AnyTool): Tool => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: { ...tool.input },
  outputSchema: { ...tool.output },
  annotations: { ...annotationsOf(tool) },
})
