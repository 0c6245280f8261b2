export { type AppServerOptions, type AppServerProcess, startAppServer } from './app-server.ts'
export {
  codexBinary,
  compatVersions,
  type CodexVersion,
  NEWEST_CODEX,
  OLDEST_CODEX,
  testedVersions,
} from './codex-binary.ts'
export { cliBinary, cliPackages } from './cli/cli-binary.ts'
export {
  type CliModel,
  type CliReply,
  lastUserText,
  startChatModel,
  startMessagesModel,
} from './cli/cli-model.ts'
export { type RealCli, startRealCli } from './cli/real-cli.ts'
export { type CliSample, cliSamples } from './cli/samples.ts'
export { type Step, standInPrompt, writeStandIn } from './cli/stand-in.ts'
export { type CodexHome, type CodexHomeOptions, createCodexHome } from './codex-home.ts'
export { at, isObject, type JsonObject, listAt, textAt } from './json.ts'
export {
  type HeldReply,
  holdReply,
  type HttpFailure,
  type OutputItem,
  type Reply,
  type StreamedReply,
  type ToolCall,
} from './model/reply.ts'
export type { ModelRequest, ToolOutput } from './model/request.ts'
export { type Match, type ScriptedModel, type Script, startScriptedModel } from './model/scripted-model.ts'
export {
  type McpCallOptions,
  type McpCallResult,
  type McpClientOptions,
  type McpClientProcess,
  startMcpClient,
  type ToolError,
} from './mcp-client.ts'
export { poll, type PollOptions } from './poll.ts'
export { type FaultProxy, startFaultProxy } from './proxy/fault-proxy.ts'
export type { Direction, LoggedMessage, MessageFilter, MessageId, MessageKind } from './proxy/message.ts'
export type { Answer, FaultAction, FaultRule, RuleFilter } from './proxy/rule.ts'
export { protocolSchema } from './protocol-schema.ts'
export {
  openRawClient,
  type RawClient,
  RpcError,
  type ServerMessage,
  type ServerRequest,
  type WaitOptions,
} from './raw-client.ts'
export {
  type CommitPlace,
  createHostileRepository,
  createRepository,
  type HooksPlace,
  type HostileRepository,
  listing,
  plainGit,
  type PlainGitOptions,
  type Repository,
  type RepositoryOptions,
  type Spring,
  type TreeEntry,
  tryPlainGit,
  userEnvironment,
} from './repositories/index.ts'
export { tempDir, type TempDir } from './temp-dir.ts'
export { startWorld, type World, type WorldOptions } from './world.ts'
