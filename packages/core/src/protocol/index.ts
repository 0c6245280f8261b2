export { Environment, Item, ItemEntry, Thread, ThreadStatus, Turn } from './items.ts'
export {
  methodNames,
  methods,
  methodSpec,
  type Effect,
  type Method,
  type MethodSpec,
  type Params,
  type ReadMethod,
  type Result,
} from './methods.ts'
export {
  isSandboxPolicy,
  normaliseSandbox,
  plainPolicy,
  policyMembers,
  samePolicy,
  sandboxName,
  sandboxNames,
  SandboxPolicy,
  sandboxTypes,
  type SandboxName,
  type SandboxType,
} from './sandbox.ts'
