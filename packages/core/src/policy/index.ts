export {
  checkApprovals,
  compareEnvironment,
  environmentChanges,
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
export { recordedEnvironment, type RecordedEnvironment } from './recorded.ts'
