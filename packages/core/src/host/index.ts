export { systemClock } from './clock.ts'
export type { CallOptions } from './context.ts'
export {
  createHost,
  type Host,
  type HostDescription,
  type HostOptions,
  type OperationsPort,
  type Policy,
} from './host.ts'
export { isUncertain } from './operations.ts'
