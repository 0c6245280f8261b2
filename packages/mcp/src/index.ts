export { callerOf } from './caller.ts'
export { serveStdio, type CloseReason, type ServeOptions, type Serving } from './serve.ts'
export { toMcpError, toMcpResult } from './to-mcp-result.ts'
export { toMcpTool } from './to-mcp-tool.ts'
