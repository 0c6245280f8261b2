import { effects, failed, noIds, under, type PlainRow, type Told } from './cell.ts'
import { createCells } from './create-cells.ts'

/** The worktree stands: who looks at it before anything else is told so. */
const kept = (told: Told): Told => (told.status === 'failed' ? { ...told, next: 'inspect' } : told)

/**
 * A launch makes its thread as a creation does; its worktree stands whole, and the receipt names the phase. Where the
 * outcome of a step cannot be written, the next phase is known to have begun.
 */
const launching = (row: PlainRow, phase: string, next = phase): PlainRow => {
  const cells = Object.entries(row).map(([fault, cell]) => {
    const after = kept(cell.after)
    const begun = fault === 'diskFullAfter' ? next : phase
    const reached = after.status === 'accepted' ? 'complete' : begun
    return [
      fault,
      { ...cell, told: kept(cell.told), after, launch: { destination: 'whole', phase: reached } },
    ]
  })
  return Object.fromEntries(cells) as PlainRow
}

export const launchCells = {
  launchStart: launching(
    {
      ...createCells.createStart,
      // The id is used up: there is a worktree.
      ...under(['unreachable', 'diskFullBefore'], failed('inspect', noIds, effects(0, 0))),
    },
    'creating_thread',
    'checking_environment',
  ),
  launchMove: launching(createCells.createMove, 'materializing_thread'),
  launchSettings: launching(createCells.createSettings, 'materializing_thread', 'naming_thread'),
  launchName: launching(createCells.createName, 'naming_thread', 'checking_before_dispatch'),
  launchTurn: launching(createCells.createTurn, 'dispatching_initial_prompt'),
  launchUnsubscribe: launching(createCells.createUnsubscribe, 'initial_prompt_accepted'),
} as const satisfies Record<string, PlainRow>
