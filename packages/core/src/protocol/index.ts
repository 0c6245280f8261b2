export {
  Environment,
  Item,
  ItemEntry,
  Model,
  Project,
  Thread,
  ThreadSection,
  ThreadStatus,
  Turn,
} from './items.ts'
export {
  methodNames,
  methods,
  methodSpec,
  type AgentEffect,
  type Effect,
  type Method,
  type MethodSpec,
  type Params,
  type ReadMethod,
  type Result,
} from './methods.ts'
export { canonicalThreadId, threadKey } from './thread-id.ts'
export {
  isSandboxPolicy,
  normaliseSandbox,
  plainPolicy,
  policyMembers,
  samePolicy,
  sandboxName,
  sandboxNameOf,
  sandboxNames,
  SandboxPolicy,
  sandboxTypes,
  type NormalisedSandbox,
  type SandboxName,
  type SandboxType,
} from './sandbox.ts'
