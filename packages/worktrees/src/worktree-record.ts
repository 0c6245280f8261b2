import { Type, type Static } from 'typebox'
import type { Input } from './worktree-input.ts'

/** What a receipt holds of its worktree. */
export const WorktreeRecord = Type.Object({
  sourceRepository: Type.String(),
  checkout: Type.String(),
  requestedRevision: Type.String(),
  gitCommonDirectory: Type.Optional(Type.String()),
  ownership: Type.String(),
  lifecycle: Type.String(),
  state: Type.Enum(['planned', 'reserved', 'registered', 'created'], { type: 'string' }),
  initialRevision: Type.Optional(Type.String()),
  detached: Type.Optional(Type.Boolean()),
  clean: Type.Optional(Type.Boolean()),
})
export type WorktreeRecord = Static<typeof WorktreeRecord>
export type WorktreeState = WorktreeRecord['state']

type Found = Pick<WorktreeRecord, 'state' | 'gitCommonDirectory' | 'initialRevision' | 'detached' | 'clean'>

export const worktreeOf = (
  {
    source_repository,
    destination,
    starting_revision,
  }: Pick<Input, 'source_repository' | 'destination' | 'starting_revision'>,
  found: Found,
): WorktreeRecord => ({
  sourceRepository: source_repository,
  checkout: destination,
  requestedRevision: starting_revision,
  ownership: 'bridge-managed',
  lifecycle: 'retained-until-manual-cleanup',
  ...found,
})
