export type { Setting } from './setting.ts'
export { checkDestination, checkReservation, type Reservation, reserveDestination } from './destination.ts'
export { createGit, type Git, type GitAnswer, type GitOptions, type Looking, type RunOptions } from './git.ts'
export { checkGitFiles } from './git-files.ts'
export { judgeSource } from './judge-source.ts'
export { fields as nulFields } from './text.ts'
export { localCommit } from './revision.ts'
export { sourceCheckout, type SourceCheckout } from './source.ts'
export { MINIMUM_GIT } from './version.ts'
export {
  addWorktree,
  checkOut,
  type InspectedWorktree,
  inspectWorktree,
  lockedWorktree,
  lockReason,
  type NewWorktree,
  type RegisteredWorktree,
  registeredWorktree,
} from './worktree.ts'
