export type {
  AppServer,
  Connection,
  ConnectionCallOptions,
  ServerInfo,
  ServerNotification,
  SocketDescription,
} from './app-server.ts'
export {
  AppServerError,
  asBridgeError,
  BridgeError,
  errorCodes,
  TransportError,
  type Delivery,
  type ErrorCode,
  type Next,
  type RpcErrorBody,
} from './errors.ts'
export {
  defineMutation,
  definePlugin,
  defineRead,
  type AnyMutation,
  type AnyRead,
  type AnyTool,
  type Caller,
  type Clock,
  type Example,
  type InputFault,
  type Limits,
  type Log,
  type LogLevel,
  type MutationContext,
  type MutationTool,
  type Plugin,
  type PluginScope,
  type ReadContext,
  type ReadTool,
  type ReconcileContext,
  type StepAccess,
  type StepOptions,
  type Verdict,
} from './tool.ts'
export { annotationsOf, manifestOf, type Annotations, type Manifest, type ManifestTool } from './manifest.ts'
export { checkSchemaGate } from './schema-gate.ts'
export { given } from './given.ts'
export { packageVersion } from './package-version.ts'
