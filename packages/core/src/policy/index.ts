export { accessOfEnvironment, accessOfParams, type Access, type NamedAccess } from './access.ts'
export {
  accessWords,
  callerAccess,
  openCeiling,
  refuseAccess,
  refuseDirectory,
  type CallerAccess,
  type Ceiling,
  type Refusal,
} from './ceiling.ts'
export { realPathOf } from './real-path.ts'
export {
  checkApprovals,
  compareEnvironment,
  driftOf,
  type Drift,
  type ExpectedEnvironment,
} from './environment.ts'
export {
  createAllowedProfiles,
  profileOfPolicy,
  requestAccess,
  settingsParams,
  startParams,
  type AllowedProfiles,
  type RequestedAccess,
  type WantedAccess,
} from './profile.ts'
export { EnvironmentRecord, newestRecord, recordOfReceipts, restoring } from './recorded.ts'
export { rolloutRecords } from './rollout.ts'
